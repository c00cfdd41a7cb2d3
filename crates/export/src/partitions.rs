//! Clusters on disk: the point partition per unit, the drawn partitions, and everything that panels show of them.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::Results;
use super::number::shortest;
use super::spreadsheet::inert;
use ergodic_base::draws::LabelList;
use ergodic_core::engine::found::Found;
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_core::engine::labels::label_list;

/// The point partition per unit.
pub const POINT: &str = "partition.csv";
/// The drawn partitions, thinned, of the units kept.
pub const DRAWS: &str = "partitions.csv";
/// The predictive density of numeric columns.
pub const DENSITY: &str = "density.csv";
/// The clusters; otherwise what the run lacks.
pub(super) fn clusters(found: &Found) -> Result<Arc<Clusters>, &'static str> {
    let clusters = found.get();
    clusters.ok_or("has no clusters, which only mixtures have")
}

/// The clusters with predictive densities; otherwise what the run lacks.
pub(super) fn with_densities(found: &Found) -> Result<Arc<Clusters>, &'static str> {
    let clusters = found.get::<Clusters>();
    clusters
        .filter(|clusters| !clusters.densities.is_empty())
        .ok_or("has no predictive density, which only finished mixtures with numeric columns have")
}

/// One row per unit: its name, its cluster from 1, the share of draws in which it was with the others of its cluster. Rows of
/// the data stand in their order, other units by name; the design's own order is random.
pub fn write_point(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let clusters = clusters(&results.found).map_err(io::Error::other)?;
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["unit", "cluster", "together"])?;
    let mut order: Vec<usize> = (0..clusters.units.len()).collect();
    order.sort_by_cached_key(|&k| {
        let name = &clusters.units[k];
        (name.parse::<u64>().unwrap_or(u64::MAX), name.clone())
    });
    for k in order {
        let (unit, cluster, together) = (
            &clusters.units[k],
            clusters.partition[k],
            clusters.together[k],
        );
        let together = together.map_or("NA".to_owned(), |share| shortest(f64::from(share)));
        let cluster = (cluster + 1).to_string();
        writer.write_record([&*inert(unit), &cluster, &together])?;
    }
    writer.flush()
}

/// One row per point of each numeric column: the predictive density there and its 90 % band, in the unit of the column.
pub fn write_density(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let clusters = with_densities(&results.found).map_err(io::Error::other)?;
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["column", "x", "density", "q5", "q95"])?;
    for density in &clusters.densities {
        for (k, &x) in density.x.iter().enumerate() {
            let numbers = [x, density.mean[k], density.low[k], density.high[k]].map(shortest);
            let numbers = numbers.iter().map(String::as_str);
            let column = inert(&density.column);
            writer.write_record(std::iter::once(column.as_ref()).chain(numbers))?;
        }
    }
    writer.flush()
}

/// One row per kept draw: chain and draw from 1, then the cluster of each unit kept, by first appearance from 1.
pub fn write_draws(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header = vec![".chain".to_owned(), ".draw".to_owned()];
    header.extend(
        results
            .units_kept
            .iter()
            .map(|unit| inert(unit).into_owned()),
    );
    writer.write_record(&header)?;
    for (chain, list) in results.labels.iter().enumerate() {
        for (number, labels) in list.iter() {
            let first = [(chain + 1).to_string(), (number + 1).to_string()];
            let labels = labels.iter().map(|label| (label + 1).to_string());
            writer.write_record(first.into_iter().chain(labels))?;
        }
    }
    writer.flush()
}

/// What [`write_draws`] wrote, for `chains` chains; `None` if it is damaged.
pub fn read_draws(input: impl Read, chains: usize) -> Option<Vec<LabelList>> {
    let mut lists = vec![label_list(chains); chains];
    let mut reader = csv::Reader::from_reader(input);
    for record in reader.records() {
        let record = record.ok()?;
        let mut numbers = record.iter().map(|cell| cell.parse::<u64>().ok());
        let (chain, number) = (numbers.next()??, numbers.next()??);
        let labels: Option<Vec<u32>> = numbers
            .map(|label| label.and_then(|label| u32::try_from(label.checked_sub(1)?).ok()))
            .collect();
        let list = lists.get_mut(usize::try_from(chain).ok()?.checked_sub(1)?)?;
        list.push(number.checked_sub(1)?, labels?.into());
    }
    Some(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::draws::DrawList;
    use ergodic_core::engine::found::clusters::Pairs;
    use ergodic_core::engine::found::clusters::predictive::Predictive;

    fn results() -> Results {
        let mut list = label_list(2);
        list.push(0, vec![0, 0, 1].into());
        list.push(1, vec![0, 1, 2].into());
        let empty = || (Vec::new(), vec![DrawList::new(0); 2]);
        Results {
            found: Found(vec![Arc::new(Clusters {
                units: ["c", "10", "a, b", "9"].map(str::to_owned).to_vec(),
                partition: vec![0, 1, 1, 0],
                together: vec![None, Some(0.25), Some(0.5), Some(1.0)],
                distance: 0.25,
                draws: 2,
                profiles: Vec::new(),
                pairs: Pairs {
                    units: vec![0],
                    shares: vec![1.0],
                },
                scatter: None,
                densities: vec![Predictive {
                    column: "x".to_owned(),
                    edges: vec![0.0, 1.0],
                    heights: vec![1.0],
                    x: vec![0.25, 0.75],
                    mean: vec![0.5, 1.0],
                    low: vec![0.25, 0.75],
                    high: vec![1.0, 1.5],
                }],
            })]),
            labels: vec![list, label_list(2)],
            units_kept: vec!["a, b".to_owned(), "c".to_owned(), "d".to_owned()],
            ..Results::new(Vec::new(), vec![DrawList::new(0); 2], empty(), 0.0)
        }
    }

    #[test]
    fn partitions_read_back_as_they_were_written() {
        let results = results();
        let mut bytes = Vec::new();
        write_draws(&results, &mut bytes).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(text, ".chain,.draw,\"a, b\",c,d\n1,1,1,1,2\n1,2,1,2,3\n");
        assert_eq!(read_draws(bytes.as_slice(), 2).unwrap(), results.labels);
        let formulas = Results {
            units_kept: vec!["=1+1".to_owned(), "-2".to_owned(), "@x".to_owned()],
            ..results.clone()
        };
        let mut bytes = Vec::new();
        write_draws(&formulas, &mut bytes).unwrap();
        assert!(bytes.starts_with(b".chain,.draw,'=1+1,-2,'@x\n"));
        assert_eq!(read_draws(bytes.as_slice(), 2).unwrap(), results.labels);
        assert_eq!(read_draws(b".chain,.draw,a\n3,1,1\n".as_slice(), 2), None);
        assert_eq!(read_draws(b".chain,.draw,a\n1,1,0\n".as_slice(), 2), None);

        let mut bytes = Vec::new();
        write_point(&results, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "unit,cluster,together\n9,1,1\n10,2,0.25\n\"a, b\",2,0.5\nc,1,NA\n"
        );

        let mut bytes = Vec::new();
        write_density(&results, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "column,x,density,q5,q95\nx,0.25,0.5,0.25,1\nx,0.75,1,0.75,1.5\n"
        );
        let without = Results {
            found: Found::default(),
            ..results
        };
        let error = write_point(&without, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("only mixtures have"));
        let error = write_density(&without, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("numeric columns"));
    }
}
