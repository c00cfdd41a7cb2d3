//! Pictures of real runs: what is drawn is what the tables say, and what cannot be drawn is refused.

use super::*;
use ergodic_analysis::bias_check;
use ergodic_analysis::predict::PredictOptions;
use ergodic_analysis::predict::picture::Picture;

#[test]
fn every_picture_is_xml_and_its_table_is_what_is_drawn() {
    let mut drawn = std::collections::BTreeSet::new();
    for ran in [plain(), odd(), censored()].into_iter().chain(others()) {
        for entry in FIGURES {
            let Some(figure) = figure_of(ran, entry) else {
                continue;
            };
            drawn.insert(entry.id);
            check_picture(&figure);
        }
    }
    for (ran, id) in [(checked(), "bias"), (two_clusters(), "clusters")] {
        let figure = figure_of(ran, find(id).unwrap()).unwrap();
        check_picture(&figure);
        drawn.insert(id);
    }
    assert_eq!(drawn.len(), FIGURES.len());
}

fn check_picture(figure: &Figure) {
    let svg = figure.to_svg();
    let mut marks = 0;
    read_xml(&svg, |tag, attributes, _| {
        marks += usize::from(["path", "circle", "rect"].contains(&tag));
        for key in ["x", "y", "cx", "cy", "width", "height"] {
            let value = attributes
                .get(key)
                .map(|it| it.trim_end_matches("mm").parse::<f64>());
            assert!(
                value.is_none_or(|it| it.is_ok_and(f64::is_finite)),
                "{tag} {key}"
            );
        }
        let path = attributes.get("d").map_or("", String::as_str);
        assert!(
            !path.contains("NaN") && !path.contains("inf"),
            "{}: {path}",
            figure.id
        );
    });
    assert!(marks > 5, "{}", figure.id);
    let table = PictureFormat::Csv.bytes(figure).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.starts_with("panel,series,mark,label,x,y,x_to,y_to,size\n"));
    assert!(table.lines().count() > 3, "{}", figure.id);
}

/// A run of an approximate sampler whose bias was checked.
fn checked() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| {
        let finished = |job: Job| {
            let mut run = start(job);
            let marks = run.join().to_vec();
            (run, marks)
        };
        let (run, marks) = finished(job("sgld-cv", 200, |_| {}));
        let (control, _) = finished(bias_check::control_job(run.job(), Some(200)).unwrap());
        let made = bias_check::Made {
            control: (control.job(), &control.view()),
            half_step: None,
        };
        let report = bias_check::certify(run.job(), &run.view(), &run.report(), &made);
        Ran {
            job: Arc::clone(run.job()),
            results: Results::of(run.job(), &run.view(), &report),
            marks,
        }
    })
}

/// A mixture of 40 units that lie in two places.
fn two_clusters() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.csv");
        let rows = (0..40).map(|row| format!("{}\n", f64::from(row % 2 * 50 + row * 7 % 11)));
        std::fs::write(&path, format!("x\n{}", rows.collect::<String>())).unwrap();
        let mut recipe = Recipe::new(path.to_str().unwrap(), "dp-mixture", "~ x");
        (recipe.run.chains, recipe.run.warmup) = (2, Some(20));
        (recipe.run.draws, recipe.run.until_precise) = (30, false);
        ran(Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap())
    })
}

#[test]
fn the_picture_of_a_bias_check_has_its_shifts_the_largest_first() {
    let ran = checked();
    let figure = figure_of(ran, find("bias").unwrap()).unwrap();
    let bias = ran
        .results
        .manifest
        .as_ref()
        .unwrap()
        .bias
        .as_ref()
        .unwrap();
    let mut shifts: Vec<[f64; 3]> = (bias.rows.iter())
        .filter_map(|row| row.shift.map(|it| [it.low, it.high, it.value]))
        .collect();
    shifts.sort_by(|a, b| b[2].abs().total_cmp(&a[2].abs()));
    // After the two ends of the tolerance two rows each: the interval and the shift.
    let rows = table(&figure);
    let drawn: Vec<[f64; 3]> = (rows[2..].chunks(2))
        .map(|it| [it[0].1[0], it[0].1[2], it[1].1[0]])
        .collect();
    assert_eq!(drawn, shifts);
    assert!(figure.caption().contains("the worst is"));
    let chains = Chains::of(&plain().results).unwrap();
    let why = find("bias").unwrap().draw(&chains, &[]).unwrap_err();
    assert!(why.to_string().contains("--check-bias"), "{why}");
}

#[test]
fn the_picture_of_clusters_has_the_matrix_and_the_densities() {
    let ran = two_clusters();
    let clusters = ran.results.found.get::<Clusters>().unwrap();
    let figure = figure_of(ran, find("clusters").unwrap()).unwrap();
    assert_eq!(figure.panels.len(), 1 + clusters.densities.len());
    assert_eq!(clusters.densities.len(), 1);
    let rows = table(&figure);
    let cells = rows.iter().filter(|(words, _)| words[0].contains(",cell,"));
    let shares: Vec<f64> = cells.map(|(_, numbers)| numbers[4]).collect();
    let expected: Vec<f64> = (clusters.pairs.shares.iter())
        .map(|&it| f64::from(it))
        .collect();
    assert_eq!(shares, expected);
    assert_eq!(shares.len(), 40 * 40);
    let curve = rows
        .iter()
        .filter(|(words, _)| words[0].contains("predictive density,line"));
    let curve: Vec<[f64; 2]> = curve.map(|(_, it)| [it[0], it[1]]).collect();
    let density = &clusters.densities[0];
    let mean = density.x.iter().zip(&density.mean).map(|(&x, &y)| [x, y]);
    assert_eq!(curve, mean.collect::<Vec<[f64; 2]>>());
    let chains = Chains::of(&plain().results).unwrap();
    let why = find("clusters").unwrap().draw(&chains, &[]).unwrap_err();
    assert!(why.to_string().contains("only mixtures"), "{why}");
}

#[test]
fn the_picture_of_predictions_is_what_the_window_shows() {
    let control = Control::default();
    let [counts, ..] = others();
    for ran in [plain(), counts] {
        let figure = figure_of(ran, find("predictions").unwrap()).unwrap();
        let (draws, weights) = ran.results.usable();
        let fitted = Fitted::of(&ran.job).unwrap();
        let options = PredictOptions::default();
        let found = fitted.predict(&draws, &weights, None, options, &control);
        let found = found.unwrap();
        let picture = Picture::of(&found);
        let expected: Vec<[f64; 2]> = match &picture {
            Picture::Shares(bins) => bins.iter().map(|it| [it.predicted, it.observed]).collect(),
            Picture::Points(points) => points.clone(),
        };
        let rows = table(&figure);
        let dots = rows
            .iter()
            .filter(|(words, _)| words[0].contains("observed,point"));
        let dots: Vec<[f64; 2]> = dots.map(|(_, it)| [it[0], it[1]]).collect();
        assert_eq!(dots, expected);
        let said = found.agreement(&picture).unwrap();
        assert!(figure.caption().contains(&said), "{}", figure.caption());
    }
}

/// The rows of a picture's table: series, and the numbers x, y, `x_to`, `y_to` and size.
fn table(figure: &ergodic_report::Figure) -> Vec<(Vec<String>, Vec<f64>)> {
    let bytes = PictureFormat::Csv.bytes(figure).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        // Names in these tests have commas within quotes alone, and numbers none.
        let cells: Vec<&str> = line.rsplitn(6, ',').collect();
        let numbers = cells[..5].iter().rev();
        let numbers = numbers
            .map(|cell| ergodic_export::number::parse(cell).unwrap())
            .collect();
        rows.push((vec![cells[5].to_owned()], numbers));
    }
    rows
}

#[test]
fn the_table_of_a_trace_is_the_draws() {
    let ran = plain();
    let chains = Chains::of(&ran.results).unwrap();
    let names = &ran.results.variables;
    let chosen = choose(names, &["b[age]".to_owned()]).unwrap();
    let figure = find("trace").unwrap().draw(&chains, &chosen).unwrap();
    let rows = table(&figure);
    let mut expected = Vec::new();
    for list in &ran.results.draws {
        let column = list.column(chosen[0]);
        expected.extend(
            column
                .iter()
                .enumerate()
                .map(|(k, &value)| [(k + 1) as f64, value]),
        );
    }
    // Beside them stands where chains started.
    let lines = rows.iter().filter(|(words, _)| words[0].contains(",line"));
    let drawn: Vec<[f64; 2]> = lines.map(|(_, numbers)| [numbers[0], numbers[1]]).collect();
    assert_eq!(drawn, expected);
    assert!(
        rows[0].0[0].starts_with("b[age],chain 1,line"),
        "{:?}",
        rows[0]
    );
    // Pairs as well.
    let chosen = choose(names, &["b[age],b[Intercept]".to_owned()]).unwrap();
    let rows = table(&find("pairs").unwrap().draw(&chains, &chosen).unwrap());
    let first = &ran.results.draws[0];
    assert_eq!(
        rows[7].1[..2],
        [first.value(7, chosen[0]), first.value(7, chosen[1])]
    );
}

#[test]
fn intervals_are_those_of_the_summary() {
    let ran = plain();
    let chains = Chains::of(&ran.results).unwrap();
    let all: Vec<usize> = (0..ran.results.variables.len()).collect();
    let rows = table(&find("intervals").unwrap().draw(&chains, &all).unwrap());
    // After the line at zero, three rows each: outer, inner, median.
    for (row, drawn) in ran.results.summary.iter().zip(rows[1..].chunks(3)) {
        assert_eq!(
            (Some(drawn[0].1[0]), Some(drawn[0].1[2])),
            (row.q5, row.q95)
        );
        assert_eq!(Some(drawn[2].1[0]), row.q50);
        assert!(drawn[0].1[0] < drawn[1].1[0] && drawn[1].1[2] < drawn[0].1[2]);
    }
    let figure = find("convergence").unwrap().draw(&chains, &[1]).unwrap();
    let last = table(&figure).pop().unwrap();
    assert_eq!(
        (last.1[0], Some(last.1[1])),
        (300.0, ran.results.summary[1].rhat)
    );
}

#[test]
fn contours_of_pairs_hold_their_share_of_the_draws() {
    let ran = plain();
    let chains = Chains::of(&ran.results).unwrap();
    let figure = find("pairs").unwrap().draw(&chains, &[0, 1]).unwrap();
    assert!(figure.caption().contains("contours of the joint density"));
    let lists = ran.results.draws.iter();
    let draws: Vec<[f64; 2]> = lists
        .flat_map(|list| (0..list.len()).map(|i| [0, 1].map(|k| list.value(i, k))))
        .collect();
    for (series, expected) in [("50 % of draws", 0.5), ("90 % of draws", 0.9)] {
        let lines: Vec<Vec<[f64; 2]>> = (figure.panels[0].iter())
            .flat_map(|panel| &panel.marks)
            .filter(|mark| mark.series == series)
            .map(|mark| {
                let mut line = Vec::new();
                mark.shape.drawn(&mut |it| line.push([it.x, it.y]));
                line
            })
            .collect();
        assert!(!lines.is_empty(), "{series}");
        let is_inside = |[x, y]: [f64; 2]| {
            let sides = lines.iter().flat_map(|line| line.windows(2));
            let crossed = sides.filter(|side| {
                let [[x0, y0], [x1, y1]] = [side[0], side[1]];
                (y0 > y) != (y1 > y) && x < x0 + (x1 - x0) * (y - y0) / (y1 - y0)
            });
            crossed.count() % 2 == 1
        };
        let inside = draws.iter().filter(|at| is_inside(**at)).count();
        let share = inside as f64 / draws.len() as f64;
        assert!((share - expected).abs() < 0.01, "{series}: {share}");
    }
}

#[test]
fn the_pair_that_goes_most_along_with_divergent_transitions_is_drawn_unasked() {
    let names = ["b[Intercept]", "b[x]", "r[g,a,x]", "sd[g,x]"].map(ParamId::from);
    let made = |diverges: fn(f64) -> bool| {
        let (mut draws, mut info) = (DrawList::new(4), DrawList::new(1));
        for k in 0..400 {
            // Four even spreads in orders that have nothing to do with each other.
            let normal = |step: usize| {
                let place = (k * step) % 401;
                quantiles::normal((place as f64 + 0.5) / 401.0)
            };
            let scale = normal(171).exp();
            draws.push(&[normal(38), normal(257), scale * normal(100), scale]);
            info.push(&[f64::from(u8::from(diverges(scale) && k % 3 == 0))]);
        }
        let info = (vec![DIVERGENT.to_owned()], vec![info]);
        Results::new(names.to_vec(), vec![draws], info, 0.0)
    };
    let pairs = find("pairs").unwrap();
    let diverging = made(|scale| scale < 0.4);
    let chains = Chains::of(&diverging).unwrap();
    let caption = pairs.draw(&chains, &[]).unwrap().caption();
    assert!(
        caption.starts_with("Draws of `r[g,a,x]` against `sd[g,x]`"),
        "{caption}"
    );
    assert!(caption.contains("goes most along with divergent transitions"));
    // Who looks at a parameter sees it beside the worst; who names two sees these.
    assert_eq!(pairs.around(&chains, 0), [0, 3]);
    assert_eq!(pairs.around(&chains, 3), [3, 2]);
    let caption = pairs.draw(&chains, &[0, 1]).unwrap().caption();
    assert!(caption.starts_with("Draws of `b[x]` against `b[Intercept]`"));
    assert!(!caption.contains("goes most along"), "{caption}");
    let calm = made(|_| false);
    let chains = Chains::of(&calm).unwrap();
    assert_eq!(pairs.of_its_own(&chains), [0, 1]);
}

#[test]
fn the_course_of_the_mode_search_is_what_was_recorded() {
    let ran = plain();
    let search = ran.job.mode.as_ref().unwrap();
    let figure = figure_of(ran, find("mode").unwrap()).unwrap();
    let rows = table(&figure);
    let lines: Vec<[f64; 2]> = rows
        .iter()
        .filter(|(words, _)| words[0].contains(",line"))
        .map(|(_, numbers)| [numbers[0], numbers[1]])
        .collect();
    let passes = search.trace.iter().map(|point| point.passes);
    assert!(search.trace.len() > 1);
    let drawn: Vec<f64> = lines[..search.trace.len()].iter().map(|it| it[0]).collect();
    assert_eq!(drawn, passes.collect::<Vec<f64>>());
    for (at, point) in lines.iter().zip(&search.trace) {
        assert_eq!(at[1], point.gradient_norm.max(1e-8));
    }
    // The search ends at the mode, below its limit.
    let end = lines.last().unwrap();
    assert_eq!(end[1], 1e-8);
    assert!(figure.caption().contains(&search.sentence()));
    // Draws of other origin have no search.
    let other = weighted(|_| 1.0);
    let chains = Chains::of(&other).unwrap();
    let why = find("mode").unwrap().draw(&chains, &[]).unwrap_err();
    assert!(
        why.to_string()
            .contains("mode of the posterior was not found"),
        "{why}"
    );
}

#[test]
fn box_plots_are_quartiles_with_whiskers_by_their_rule() {
    let ran = plain();
    let chains = Chains::of(&ran.results).unwrap();
    let figure = find("boxes").unwrap().draw(&chains, &[1]).unwrap();
    let caption = figure.caption();
    assert!(
        caption.contains("within 1.5 interquartile ranges"),
        "{caption}"
    );
    let mut draws: Vec<f64> = (ran.results.draws.iter())
        .flat_map(|list| list.column(1))
        .collect();
    draws.sort_unstable_by(f64::total_cmp);
    let [low, median, high] = [0.25, 0.5, 0.75].map(|p| quantiles::of_sorted(&draws, p));
    let far = 1.5 * (high - low);
    let within = |it: &&f64| (low - far..=high + far).contains(*it);
    let rows = table(&figure);
    // After the line at zero: whiskers, box, median, and each draw beyond.
    let ends = [draws.iter().find(within), draws.iter().rfind(within)];
    assert_eq!([Some(&rows[1].1[0]), Some(&rows[1].1[2])], ends);
    assert_eq!(
        [rows[2].1[0], rows[2].1[2], rows[3].1[0]],
        [low, high, median]
    );
    let beyond = draws.iter().filter(|it| !within(it)).count();
    assert_eq!(rows.len() - 4, beyond);
}

/// Draws of a standard normal distribution at even quantiles in mixed order, with weights.
fn weighted(weight: impl Fn(usize) -> f64) -> Results {
    let lists = |shift: usize| {
        let (mut draws, mut info) = (DrawList::new(2), DrawList::new(1));
        for k in 0..400 {
            let place = ((k * 171 + shift) % 400) as f64;
            let value = quantiles::normal((place + 0.5) / 400.0);
            draws.push(&[value, value * value]);
            info.push(&[weight((k * 171 + shift) % 400)]);
        }
        (draws, info)
    };
    let (draws, info) = [0, 57].map(lists).into_iter().unzip();
    let names: Vec<ParamId> = vec!["b[x]".into(), "sigma".into()];
    Results::new(names, draws, (vec![WEIGHT.to_owned()], info), 0.0)
}

#[test]
fn pictures_of_weighted_draws_are_weighted() {
    // Only the upper half counts: the median is the upper quartile of all.
    let upper = weighted(|place| if place >= 200 { 2.0 } else { 0.0 });
    let chains = Chains::of(&upper).unwrap();
    let rows = table(&find("intervals").unwrap().draw(&chains, &[0]).unwrap());
    let [_, outer, _, median] = [0, 1, 2, 3].map(|k| rows[k].1.clone());
    let row = &upper.summary[0];
    assert_eq!(
        (Some(outer[0]), Some(outer[2]), Some(median[0])),
        (row.q5, row.q95, row.q50)
    );
    assert!(
        (median[0] - quantiles::normal(0.75)).abs() < 0.01,
        "{median:?}"
    );
    // Nearly all of the density is above zero.
    let rows = table(&find("density").unwrap().draw(&chains, &[0]).unwrap());
    let curve = rows
        .iter()
        .filter(|(text, _)| text[0].contains("all chains,line"));
    let below: f64 = curve
        .clone()
        .filter(|(_, at)| at[0] < -0.5)
        .map(|(_, at)| at[1])
        .sum();
    let all: f64 = curve.map(|(_, at)| at[1]).sum();
    assert!(below < 0.02 * all, "{below} of {all}");
    // All figures can be drawn, with signed weights too.
    let signed = weighted(|place| if place % 9 == 4 { -1.0 } else { 1.5 });
    for results in [&upper, &signed] {
        let chains = Chains::of(results).unwrap();
        let of_draws = FIGURES.iter().filter(|it| it.is_of_draws());
        for entry in
            of_draws.filter(|it| !["energy", "groups", "bias", "clusters"].contains(&it.id))
        {
            let figure = entry.draw(&chains, &[]).unwrap();
            read_xml(&figure.to_svg(), |_, _, _| {});
        }
    }
    let chains = Chains::of(&signed).unwrap();
    let pairs = find("pairs").unwrap().draw(&chains, &[]).unwrap();
    assert!(
        pairs
            .legend
            .iter()
            .any(|key| key.words == "negative weight")
    );
    let rows = table(&pairs);
    let dots = rows.iter().filter(|(words, _)| words[0].contains(",point"));
    let sizes: Vec<f64> = dots.map(|(_, numbers)| numbers[4]).collect();
    assert!(sizes.iter().all(|size| *size > 0.0) && sizes.len() == 800);
}

#[test]
fn what_cannot_be_drawn_is_refused_in_a_sentence() {
    let ran = plain();
    let chains = Chains::of(&ran.results).unwrap();
    let refused = find("pairs")
        .unwrap()
        .draw(&chains, &[0])
        .unwrap_err()
        .to_string();
    assert!(refused.contains("takes 2 parameters, not 1"), "{refused}");
    assert!(
        find("violin")
            .unwrap_err()
            .to_string()
            .contains("trace, ranks")
    );
    let pdf = PictureFormat::of(Path::new("a/b.pdf"))
        .unwrap_err()
        .to_string();
    assert!(
        pdf.contains(".svg, .png or .csv") && pdf.ends_with("a/b.pdf"),
        "{pdf}"
    );
    let mut constant = weighted(|_| 1.0);
    constant.draws = vec![DrawList::new(2); 2];
    for list in &mut constant.draws {
        for _ in 0..200 {
            list.push(&[1.0, f64::NAN]);
        }
    }
    let chains = Chains::of(&constant).unwrap();
    for entry in FIGURES.iter().filter(|entry| entry.takes.least == 1) {
        // Either a picture or a sentence, never a panic.
        for parameter in [0, 1] {
            if let Err(error) = entry.draw(&chains, &[parameter]) {
                assert!(error.to_string().contains("cannot be drawn"), "{error}");
            }
        }
    }
    let none = Results::new(
        vec!["a".into()],
        vec![DrawList::new(1)],
        (Vec::new(), vec![DrawList::new(0)]),
        0.0,
    );
    assert!(
        Chains::of(&none)
            .unwrap_err()
            .to_string()
            .contains("no draws")
    );
}

#[test]
fn a_picture_that_cannot_be_drawn_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.svg");
    std::fs::write(&path, "before").unwrap();
    let results = &plain().results;
    let control = Control::default();
    let pairs = find("pairs").unwrap();
    let of = |parameters: &'static [usize]| Pictured {
        results,
        parameters,
        access: Access::default(),
        other: None,
    };
    write_picture(pairs, &of(&[0]), &path, &control).unwrap_err();
    let check = write_picture(find("ecdf").unwrap(), &of(&[]), &path, &control).unwrap_err();
    assert!(
        check.to_string().contains("draws of other origin have not"),
        "{check}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
    let caption = write_picture(pairs, &of(&[0, 1]), &path, &control).unwrap();
    assert!(
        caption.starts_with("Draws of `b[age]` against `b[Intercept]`."),
        "{caption}"
    );
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .ends_with("</svg>\n")
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Pictures and a page to look at: `ERGODIC_LOOK=folder cargo test -p ergodic-report --test reports look -- --ignored`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let Some(folder) = std::env::var_os("ERGODIC_LOOK") else {
        return;
    };
    let folder = Path::new(&folder);
    let [counts, numbers, held] = others();
    for (name, ran) in [
        ("plain", plain()),
        ("odd", odd()),
        ("counts", counts),
        ("numbers", numbers),
        ("held", held),
    ] {
        for entry in FIGURES {
            let Some(figure) = figure_of(ran, entry) else {
                continue;
            };
            let path = folder.join(format!("{name}-{}.png", entry.id));
            std::fs::write(path, figure.to_png().unwrap()).unwrap();
            let path = folder.join(format!("{name}-{}.svg", entry.id));
            std::fs::write(path, figure.to_svg()).unwrap();
        }
        let report = report_of(ran);
        for format in report::FORMATS {
            let path = folder.join(format!("{name}-{}", format.file_name));
            std::fs::write(path, (format.write)(&report)).unwrap();
        }
    }
}
