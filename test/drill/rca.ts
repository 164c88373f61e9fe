import { investigate } from 'svc/rca';

import { simulate, type Suite } from '../../plugins/investigate/cli/bench/simulator/simulate.ts';
import { tableOf } from '../../plugins/investigate/cli/bench/table.ts';
import type { Outcome, Row } from '../exercise.ts';
import { without } from '../plugins/lib/rca/known.ts';

interface Options {
  /** Seeds of each: known faults, unseen ones, calm runs, withheld evidence. */
  readonly seeds?: number;
  /** Seeds of known faults with 20, 30 and 50 % of the topology unknown. */
  readonly dropped?: number;
  /** Seeds of which every piece of evidence is removed once. */
  readonly monotone?: number;
  readonly from?: number;
}

/**
 * Tests the promises of the investigator on seeds that nothing was fitted to: how often it is
 * right, raises false alarms and guesses, and that less evidence never makes it more certain.
 */
export async function run({
  seeds = 500,
  dropped = 150,
  monotone = 25,
  from = 1_000_000,
}: Options = {}): Promise<Outcome> {
  const suites: Row[] = [];
  for (const suite of ['known', 'unseen', 'calm', 'withheld'] as const) {
    suites.push(
      await measured(suite, suite, suite === 'withheld' ? Math.ceil(seeds / 2) : seeds, from),
    );
  }
  for (const dropEdges of [0.2, 0.3, 0.5]) {
    suites.push(
      await measured(
        `known, ${dropEdges * 100} % of edges dropped`,
        'known',
        dropped,
        from,
        dropEdges,
      ),
    );
  }
  const { pieces, rose } = lessEvidence(monotone, from);
  const ok = suites.every((row) => row['ok'] === true) && rose === 0;
  return { ok, suites, 'pieces of evidence taken away': pieces, 'confidence rose': rose };
}

async function measured(
  name: string,
  suite: Suite,
  count: number,
  from: number,
  dropEdges = 0,
): Promise<Row> {
  const cases = Array.from(
    { length: count },
    (_, at) => () => simulate(from + at, { suite, dropEdges }),
  );
  const { rows, verdicts } = await tableOf(
    (function* made() {
      for (const make of cases) {
        yield make();
      }
    })(),
  );
  const [own] = rows;
  // Of sorts that the engine does not know, and without part of the topology, one in ten may be missed.
  const least = suite === 'known' && dropEdges === 0 ? 0.95 : 0.9;
  const figures = { cases: count, 'AC@1': own!.ac1, 'AC@3': own!.ac3 };
  switch (suite) {
    case 'calm':
      return {
        suite: name,
        cases: count,
        ok: verdicts.false_alarms <= 0.02,
        'false alarms': verdicts.false_alarms,
      };
    case 'withheld':
      return {
        suite: name,
        cases: count,
        ok: verdicts.insufficient >= 0.95,
        'said so': verdicts.insufficient,
      };
    default:
      return {
        suite: name,
        ok: own!.ac3 >= least && (dropEdges > 0 || own!.ac1 >= 0.8),
        ...figures,
      };
  }
}

function lessEvidence(
  count: number,
  from: number,
): { readonly pieces: number; readonly rose: number } {
  let pieces = 0;
  let rose = 0;
  const compare = (name: string, value: number, less: number): void => {
    pieces += 1;
    if (less > value + 1e-12) {
      rose += 1;
      console.log(`${name}: ${value} became ${less}`);
    }
  };
  for (let seed = from; seed < from + count; seed += 1) {
    for (const suite of ['known', 'unseen', 'calm'] as const) {
      const { snapshot } = simulate(seed, { suite });
      const { value } = investigate(snapshot).confidence;
      for (const { id, query } of snapshot.evidence) {
        compare(
          `${suite} ${seed} without ${query}`,
          value,
          investigate(without(snapshot, id)).confidence.value,
        );
      }
      // One after the other, too.
      let left = snapshot;
      let last = value;
      for (const { id, query } of snapshot.evidence
        .filter((_, at) => at % 3 === seed % 3)
        .slice(0, 12)) {
        left = without(left, id);
        const less = investigate(left).confidence.value;
        compare(`${suite} ${seed} then without ${query}`, last, less);
        last = less;
      }
    }
  }
  return { pieces, rose };
}
