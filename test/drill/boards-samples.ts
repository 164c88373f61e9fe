import { hostname } from 'node:os';

import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { Json } from '../plugins/monitor/house.ts';
import type { MadeSeries, RealSamples } from './boards.ts';

interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

interface Wanted {
  readonly name: string;
  readonly matchers: readonly Matcher[];
  /** Labels by which the query groups, joins or names. */
  readonly labels: readonly string[];
  /** What it is compared with, where a query asks for equality. */
  readonly equal: number | undefined;
}

const words = new Set(
  'by without on ignoring group_left group_right bool and or unless offset atan2 start end inf nan'.split(
    ' ',
  ),
);
const metric =
  /(?<![\w$"'.:@-])([a-zA-Z_:][\w:]*)\s*(\{[^{}]*\})?(?!\s*\(|[\w:]|\s+(?:by|without)\b)/g;
const matcher = /([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')/g;
const grouping = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;

/** Series that a board's queries and variables find, with the names and labels that they need. */
export function seriesOfBoard(board: Json, real: RealSamples): readonly MadeSeries[] {
  const wanted = queriesIn(board).flatMap(({ text, legends }) => selectorsIn(text, legends));
  const byName = new Map<string, Wanted[]>();
  for (const one of wanted) {
    byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  }
  const values = constantsIn(board);
  const series = [...byName].flatMap(([name, uses]) => {
    const found = real.get(name);
    return found === undefined
      ? uses.flatMap((use) => made(name, use, uses, values))
      : scrapedAs(uses, values).flatMap((scrape) =>
          found.map(({ labels, value }) => ({
            labels: { ...scrape, ...labels, __name__: name },
            value: Number.isFinite(value) ? value : 1,
            growth: /_total$|_sum$|_count$|_bucket$/.test(name) ? 1 + Math.abs(value) / 1_000 : 0,
          })),
        );
  });
  const keyOf = ({ labels }: MadeSeries): string =>
    JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return [...new Map(series.map((one) => [keyOf(one), one])).values()];
}

/** Labels that whoever scrapes an exporter adds to its own. */
const added = [
  ...['instance', 'job', 'cluster', 'namespace', 'pod', 'node', 'nodename', 'container', 'service'],
  'metrics_path',
];

/** Sets of these labels as the queries of a board ask for them: one for each job. */
function scrapedAs(
  uses: readonly Wanted[],
  constants: ReadonlyMap<string, string>,
): readonly Record<string, string>[] {
  const asksFor = (label: string, { labels, matchers }: Wanted): boolean =>
    labels.includes(label) || matchers.some((one) => one.label === label);
  const names = added.filter(
    (label) => label === 'job' || label === 'instance' || uses.some((use) => asksFor(label, use)),
  );
  const ofJobs = uses.filter(({ matchers }) => matchers.some(({ label }) => label === 'job'));
  const byJob = new Map(
    (ofJobs.length > 0 ? ofJobs : uses).map(({ matchers }) => {
      const set = Object.fromEntries(
        names.map((label) => [
          label,
          valueFor(
            label,
            matchers.filter((one) => one.label === label),
            constants,
          ),
        ]),
      );
      return [set['job'], set] as const;
    }),
  );
  return [...byJob.values()];
}

interface Query {
  readonly text: string;
  readonly legends: string;
}

function queriesIn(board: Json): readonly Query[] {
  const found: Query[] = [];
  const visit = (value: Json, legends: string): void => {
    if (Array.isArray(value)) {
      value.forEach((item) => visit(item, legends));
    } else if (typeof value === 'object' && value !== null) {
      const columns = labelsOfColumns(value.transformations ?? []).map((name) => `{{${name}}}`);
      const names =
        value.targets === undefined
          ? ''
          : [...value.targets.map((one: Json) => one.legendFormat), ...columns].join(' ');
      if (typeof value.expr === 'string') {
        found.push({ text: value.expr, legends: `${value.legendFormat ?? ''} ${legends}` });
      }
      Object.values(value).forEach((item) => visit(item, names || legends));
    }
  };
  visit(board.panels ?? [], '');
  visit(board.rows ?? [], '');
  for (const variable of board.templating?.list ?? []) {
    const query = typeof variable.query === 'string' ? variable.query : variable.query?.query;
    const [, selector, label] = /label_values\s*\(([^]*),\s*(\w+)\s*\)/.exec(query ?? '') ?? [];
    if (selector !== undefined) {
      found.push({ text: selector, legends: `{{${label}}}` });
    }
  }
  return found;
}

/** Names that a table's transformations keep, group by or order: labels, where they are in lower case. */
const labelsOfColumns = (transformations: Json): readonly string[] =>
  transformations.flatMap(({ options }: Json) =>
    [
      ...(options?.keepLabels ?? []),
      ...Object.keys(options?.fields ?? {}),
      ...Object.keys(options?.indexByName ?? {}),
    ].filter((name) => /^[a-z]\w*$/.test(name)),
  );

function selectorsIn(text: string, legends: string): readonly Wanted[] {
  const bare = text
    .replaceAll(/\[[\w$:{}. ]*\]/g, '')
    .replaceAll(/#[^\n]*/g, '')
    .replaceAll(/\$\{(\w+)(?::\w+)?\}/g, '$$$1');
  const groups = [...bare.matchAll(grouping)].flatMap(([, names]) => names!.split(','));
  const labels = [
    ...groups.map((name) => name.trim()),
    ...[...legends.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name!),
    ...(/histogram_quantile/.test(text) ? ['le'] : []),
  ].filter((name) => /^\w+$/.test(name));
  const equal = /==\s*(\d+)/.exec(bare)?.[1];
  const open = bare.replaceAll(grouping, ' ');
  return [...open.matchAll(metric)].flatMap(([, name, braces]) =>
    words.has(name!.toLowerCase()) || /^(?:\d|__)/.test(name!) || /^[a-z]$/.test(name!)
      ? []
      : [
          {
            name: name!,
            labels: [...new Set(labels)],
            equal: equal === undefined ? undefined : Number(equal),
            matchers: [...(braces ?? '').matchAll(matcher)].map(([, label, op, value, single]) => ({
              label: label!,
              op: op!,
              value: (value ?? single)!,
            })),
          },
        ],
  );
}

/** Values of variables that have a list: what a label is compared with through them. */
function constantsIn(board: Json): ReadonlyMap<string, string> {
  return new Map(
    (board.templating?.list ?? [])
      .filter(({ type }: Json) => type === 'custom' || type === 'interval' || type === 'textbox')
      .map((variable: Json) => [
        variable.name,
        String(variable.current?.value ?? '') ||
          String(variable.query ?? '')
            .split(',')[0]!
            .trim(),
      ]),
  );
}

/** Value of a label wherever nothing else is asked for, so that what is joined meets. */
const defaultOf = (label: string): string =>
  ({
    instance: 'host1:9100',
    job: 'node',
    le: '+Inf',
    device: 'eth0',
    mountpoint: '/',
    fstype: 'ext4',
    container: 'main',
    image: 'main:1',
    mode: 'idle',
    code: '200',
    node: hostname(),
    nodename: hostname(),
    quantile: '0.5',
  })[label] ?? `${label}-1`;

function made(
  name: string,
  use: Wanted,
  uses: readonly Wanted[],
  constants: ReadonlyMap<string, string>,
): readonly MadeSeries[] {
  const names = new Set([
    'job',
    'instance',
    ...uses.flatMap(({ labels, matchers }) => [...labels, ...matchers.map(({ label }) => label)]),
  ]);
  names.delete('__name__');
  const isBucket = name.endsWith('_bucket');
  const base: Record<string, string> = { __name__: name };
  for (const label of names) {
    if (label !== 'le' || isBucket) {
      base[label] = valueFor(
        label,
        use.matchers.filter((one) => one.label === label),
        constants,
      );
    }
  }
  const alternatives = use.matchers
    .filter(({ op, value }) => op === '=~' && /^[\w|-]+\|[\w|-]+$/.test(value))
    .flatMap(({ label, value }) =>
      value
        .split('|')
        .slice(0, 8)
        .map((one) => ({ [label]: one })),
    );
  const all = [base, ...alternatives.map((one) => ({ ...base, ...one }))];
  const isCounter = use.equal === undefined;
  const bounds = isBucket ? ['0.1', '1', '10', '+Inf'] : [undefined];
  return all.flatMap((labels) =>
    bounds.map((le, at): MadeSeries => ({
      labels: { ...labels, ...(le !== undefined && { le }) } as LabelRecord,
      value: isCounter ? 100 * (at + 1) : use.equal,
      growth: isCounter ? at + 1 : 0,
    })),
  );
}

/** A value that all matchers of one label take, as far as it can be told. */
function valueFor(
  label: string,
  matchers: readonly Matcher[],
  constants: ReadonlyMap<string, string>,
): string {
  const usual = defaultOf(label);
  const positive = matchers.find(({ op }) => op === '=' || op === '=~');
  if (positive === undefined) {
    const isRefused = matchers.some(({ op, value }) =>
      op === '!=' ? value === usual : tester(value)(usual),
    );
    return isRefused ? `other-${label}` : usual;
  }
  const { op, value } = positive;
  const variable = /^\$\{?(\w+)/.exec(value)?.[1] ?? /^\[\[(\w+)/.exec(value)?.[1];
  if (variable !== undefined || value.includes('$')) {
    return (variable !== undefined && constants.get(variable)) || usual;
  }
  if (op === '=') {
    return value.replaceAll('\\\\', '\\');
  }
  return matching(value, usual);
}

/** The usual value where a pattern takes it, else a text that a simple pattern takes. */
function matching(pattern: string, usual: string): string {
  const whole = pattern.replaceAll('\\\\', '\\').replaceAll('(?i)', '').replaceAll('(?i:', '(?:');
  const fits = tester(pattern);
  if (fits(usual)) {
    return usual;
  }
  const tries = [
    whole.split('|')[0]!.replaceAll(/[\^$()?:]/g, ''),
    whole
      .replaceAll(/\\d[+*]?/g, '1')
      .replaceAll(/\.[+*]/g, 'x')
      .replaceAll(/\\/g, ''),
  ].flatMap((text) => [
    text,
    text
      .replaceAll(/\.[+*]/g, 'x')
      .replaceAll(/\[[^\]]*\][+*]?/g, '1')
      .replaceAll(/[\\?*+^$()]/g, ''),
  ]);
  return [...tries, 'sda', 'nvme0n1'].find(fits) ?? usual;
}

/** Tests a pattern of RE2, as far as the language of this file knows it. */
function tester(pattern: string): (text: string) => boolean {
  const whole = pattern.replaceAll('\\\\', '\\').replaceAll('(?i)', '').replaceAll('(?i:', '(?:');
  try {
    const compiled = new RegExp(`^(?:${whole})$`);
    return (text) => compiled.test(text);
  } catch {
    return () => false;
  }
}
