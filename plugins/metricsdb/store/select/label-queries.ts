import { type Budget, eachOf, type Labels, labelsKey, type Matcher } from 'svc/query';

import { ChosenBlocks } from './chosen-blocks.ts';
import { find, type SelectParts } from './select.ts';

export interface Window {
  readonly mint: number;
  readonly maxt: number;
}

type MatcherSets = readonly (readonly Matcher[])[];

/** Label sets of series that any of the matcher sets lets through and that have samples about the window. */
export async function matchingSeries(
  parts: SelectParts,
  matcherSets: MatcherSets,
  window: Window,
  cost: Budget,
): Promise<Labels[]> {
  const found = new Map<string, Labels>();
  for (const matchers of matcherSets) {
    await within(parts, window, cost, async (chosen) => {
      await eachOf(
        await find(parts, chosen, matchers, window.mint, window.maxt, cost),
        cost,
        ({ labels }) => {
          cost.spend(1);
          found.set(labelsKey(labels), labels);
        },
      );
    });
  }
  return [...found.values()];
}

/** Names of labels, sorted. Without matchers those of all series. */
export async function labelNames(
  parts: SelectParts,
  matcherSets: MatcherSets,
  window: Window,
  cost: Budget,
): Promise<string[]> {
  const names = new Set<string>();
  if (matcherSets.length > 0) {
    for (const labels of await matchingSeries(parts, matcherSets, window, cost)) {
      labels.forEach((text, i) => i % 2 === 0 && names.add(text));
    }
    return [...names].sort();
  }
  await within(parts, window, cost, async (chosen) => {
    for (const place of chosen.rows.keys()) {
      chosen.at(place, ({ directory }) => directory.labelNames.forEach((name) => names.add(name)));
      await cost.breathe();
    }
  });
  if (parts.head.touches(window.mint, window.maxt)) {
    parts.head.index.names(names);
  }
  return [...names].sort();
}

/** Values of one label, sorted. */
export async function labelValues(
  parts: SelectParts,
  name: string,
  matcherSets: MatcherSets,
  window: Window,
  cost: Budget,
): Promise<string[]> {
  const values = new Set<string>();
  const sets = matcherSets.length === 0 ? [[]] : matcherSets;
  await within(parts, window, cost, async (chosen) => {
    for (const matchers of sets) {
      for (const place of chosen.rows.keys()) {
        chosen.at(place, (reader, lost) => reader.labelValues(name, matchers, values, lost));
        await cost.breathe();
      }
      if (parts.head.touches(window.mint, window.maxt)) {
        parts.head.index.values(name, matchers, values);
      }
    }
  });
  values.delete('');
  return [...values].sort();
}

async function within<R>(
  { blocks }: SelectParts,
  { mint, maxt }: Window,
  cost: Budget,
  work: (chosen: ChosenBlocks) => Promise<R>,
): Promise<R> {
  blocks.damage.touching(mint, maxt).forEach((sentence) => cost.warn(sentence));
  const chosen = new ChosenBlocks(blocks, blocks.within(mint, maxt), cost);
  try {
    return await work(chosen);
  } finally {
    chosen.done();
  }
}
