# Markdown tables from the answers that `benches/beside.sh` gathered: group, request, round, program, answer, separated by tabs.

BEGIN {
    FS = "\t"
    split("c blackjax sgmcmcjax numpyro arviz lme4", order, " ")
    split("plain C,BlackJAX,SGMCMCJax,NumPyro,ArviZ,lme4", names, ",")
    for (i in order) title[order[i]] = names[i]
    # Numbers that a pass reads of each row besides its covariates: signs of covariates say yes or no.
    split("logistic 0 student 1 poisson 2 negative-binomial 2", pairs, " ")
    for (i = 1; i in pairs; i += 2) extra[pairs[i]] = pairs[i + 1]
}

$5 != "-" {
    key = $2
    if (!(key in group)) { group[key] = $1; requests[++count] = key }
    if ($3 > last[key]) last[key] = $3
    value[key, $4, $3] = $5
    has[key, $4] = 1
    used[$4] = 1
}

# Median of list[1..n].
function median(list, n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function of(key, program,    round, list, n) {
    for (round = 1; round <= last[key]; round++)
        if ((key, program, round) in value) list[++n] = value[key, program, round]
    return median(list, n)
}

# Median over rounds of one program's answer to the first request over the other's to the second.
function ratio(key, program, other, against,    round, list, n) {
    for (round = 1; round <= last[key]; round++)
        if ((key, program, round) in value && (other, against, round) in value)
            list[++n] = value[key, program, round] / value[other, against, round]
    return n ? median(list, n) : 0
}

function brief(x) { return x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x) }

function seconds(x) {
    if (x < 1e-3) return brief(1e6 * x) " µs"
    if (x < 1) return brief(1e3 * x) " ms"
    return brief(x) " s"
}

function shown(key, x) { return group[key] == "runs" ? brief(x) " per second" : seconds(x) }

function work(key,    w) {
    split(key, w, " ")
    if (w[1] == "full") return "value and gradient, " w[2] ", D = " w[3]
    if (w[1] == "run") return "`" w[2] "`, smallest bulk ESS, " w[3] (w[3] == 1 ? " chain" : " chains") ", " w[4] " draws"
    if (w[1] == "summary") return "summary of 4 × 10,000 × 100 draws"
    if (w[1] == "mixed") return "mixed model, " w[2] ", " w[3]
    return "`" w[1] "`, D = " w[2] ", " w[3] " rows, " w[4]
}

function is_row_loop(key) { return group[key] != "runs" && group[key] != "summary" && group[key] != "mixed" }

function row_loops(    i, k, key, head, line, p, any) {
    for (i = 1; i <= count; i++) any = any || is_row_loop(requests[i])
    if (!any) return
    head = "| work | Ergodic |"; line = "|---|---|"
    for (k = 1; k <= 4; k++) if (used[order[k]]) { head = head " " title[order[k]] " |"; line = line "---|" }
    print head; print line
    for (i = 1; i <= count; i++) {
        key = requests[i]
        if (!is_row_loop(key) || !has[key, "ergodic"]) continue
        printf "| %s | %s |", work(key), seconds(of(key, "ergodic"))
        for (k = 1; k <= 4; k++) {
            p = order[k]
            if (!used[p]) continue
            if (has[key, p]) printf " %s (%s) |", seconds(of(key, p)), brief(ratio(key, p, key, "ergodic"))
            else printf " |"
        }
        print ""
    }
    print "\nIn brackets: the other program's time over that of Ergodic; above 1, Ergodic is faster.\n"
}

function analyses(    i, k, key, p, any, r) {
    for (i = 1; i <= count; i++) {
        key = requests[i]
        if (is_row_loop(key) || !has[key, "ergodic"]) continue
        if (!any++) print "| work | Ergodic | other | ratio |\n|---|---|---|---|"
        printf "| %s | %s |", work(key), shown(key, of(key, "ergodic"))
        for (k = 1; k in order && !has[key, order[k]]; k++);
        if (k in order) {
            p = order[k]
            r = ratio(key, p, key, "ergodic")
            if (group[key] == "runs" && r > 0) r = 1 / r
            printf " %s: %s | %s |\n", title[p], shown(key, of(key, p)), brief(r)
        } else print " not available | |"
    }
    if (any) print ""
}

# Bytes that a pass reads, and what the memory takes to give as many in the same order ("memory").
function roofline(    i, key, w, n, bytes, any, what) {
    for (i = 1; i <= count; i++) {
        key = requests[i]
        if (!has[key, "memory"] || !has[key, "ergodic"]) continue
        split(key, w, " ")
        if (w[1] == "full") { n = w[3] + extra[w[2]]; bytes = 100000 * n * 8; what = "one stream" }
        else { n = w[2]; bytes = w[3] * n * 8; what = w[4] == "blocks" ? "random blocks of 8 rows" : "random rows" }
        if (!any++) print "| work | bytes per row | GB/s | the memory gives, GB/s | share |\n|---|---|---|---|---|"
        printf "| %s | %d | %s | %s (%s) | %.0f %% |\n", work(key), 8 * n, brief(bytes / of(key, "ergodic") / 1e9),
            brief(bytes / of(key, "memory") / 1e9), what, 100 * ratio(key, "memory", key, "ergodic")
    }
}

END { row_loops(); analyses(); roofline() }
