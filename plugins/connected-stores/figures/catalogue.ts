import shipped from './catalogue.json' with { type: 'json' };

/** Series that are copied under their own names, by group. */
export interface CopiedGroup {
  readonly group: string;
  /** Selector of the series of these instances. */
  readonly selectorOf: (instances: readonly string[]) => string;
}

/** Figure of svc that is calculated from what exporters measure, whichever of them a host has. */
export interface Equivalent {
  readonly metric: string;
  readonly expression: string;
}

const selectors: Readonly<Record<string, string>> = shipped.selectors;

export const copiedGroups: readonly CopiedGroup[] = Object.entries(shipped.copied).map(
  ([group, names]) => ({
    group,
    selectorOf: (instances) => {
      const matchers = [
        `__name__=~"${names.join('|')}"`,
        `instance=~${JSON.stringify(instances.map(literal).join('|'))}`,
        ...(selectors[group] === undefined ? [] : [selectors[group]]),
      ];
      return `{${matchers.join(',')}}`;
    },
  }),
);

export const furtherSeries: readonly string[] = shipped.further;

export const equivalents: readonly Equivalent[] = Object.entries(shipped.equivalents).map(
  ([metric, expressions]) => ({
    metric,
    expression: expressions.map((expression) => `(${expression})`).join(' or '),
  }),
);

/** Label that says of which figure a series is, where several are asked for together. */
const figure = 'svc_figure';

/** All equivalents as one question: a server answers one of them as fast as twelve. */
export const everyEquivalent = equivalents
  .map(({ metric, expression }) => `label_replace(${expression}, "${figure}", "${metric}", "", "")`)
  .join(' or ');

/** The figure that a series of `everyEquivalent` is of, and its own labels. */
export function figureOf({
  [figure]: name = '',
  ...labels
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { ...labels, __name__: name };
}

/** Matches a text itself, also in a regular expression of RE2. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
