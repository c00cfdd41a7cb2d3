"""Simulates plants.csv: fruits of 625 plants of 24 genotypes in 9 populations in 3 regions, of very different numbers of plants.

    python plants.py .

The shape is that of field experiments on tolerance to damage: counts from 0 to some hundred that vary more than Poisson, so that
a Poisson model knows most groups well. Made with Python 3.11; needs no packages.
"""

import csv
import math
import os
import random
import sys

rnd = random.Random(20)
REGION_OF = [0, 0, 1, 1, 1, 1, 2, 2, 2]
POPULATION_OF = [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 8, 8, 8, 8]


def poisson(mean):
    """Arrivals at rate 1 until `mean`."""
    count, time = 0, rnd.expovariate(1.0)
    while time < mean:
        count += 1
        time += rnd.expovariate(1.0)
    return count


regions = [rnd.gauss(0, 0.3) for _ in range(3)]
populations = [rnd.gauss(0, 0.35) for _ in range(9)]
genotypes = [rnd.gauss(0, 0.4) for _ in range(24)]
share = [0.3 + rnd.random() for _ in range(24)]
with open(os.path.join(sys.argv[1], "plants.csv"), "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["region", "population", "genotype", "rack", "nutrient", "damage", "sown", "fruits"])
    for _ in range(625):
        genotype = rnd.choices(range(24), share)[0]
        population = POPULATION_OF[genotype]
        region = REGION_OF[population]
        rack, nutrient, damage = rnd.choice([1, 2]), rnd.choice([1, 8]), rnd.choice(["none", "cut"])
        sown = rnd.choices(["field", "dish", "tray"], [0.6, 0.15, 0.25])[0]
        log_mean = 2.4 + regions[region] + populations[population] + genotypes[genotype] + 0.12 * nutrient
        log_mean += {1: 0.3, 2: -0.3}[rack] + {"none": 0.2, "cut": -0.2}[damage] + {"field": 0.0, "dish": 0.1, "tray": -0.2}[sown]
        # Plants differ: gamma with mean 1 and shape 0.8.
        fruits = poisson(math.exp(log_mean) * rnd.gammavariate(0.8, 1 / 0.8))
        writer.writerow([f"r{region + 1}", f"p{population + 1}", f"g{genotype + 1}", rack, nutrient, damage, sown, fruits])
