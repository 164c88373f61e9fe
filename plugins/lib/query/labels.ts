/** A label set: a frozen flat array of pairs sorted by name, `[n1, v1, n2, v2, …]`, with `__name__` among them. */
export type Labels = readonly string[];

export const metricName = '__name__';

export const noLabels: Labels = Object.freeze([]);

/**
 * Builds labels: an empty value removes the label, and a later pair replaces an earlier one of the
 * same name.
 */
export function labelsOf(pairs: Iterable<readonly [string, string]>): Labels {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (value === '') {
      values.delete(name);
    } else {
      values.set(name, value);
    }
  }
  return flatOf(values);
}

/**
 * Builds labels like `labelsOf` for the metadata of a log line, where a label with an empty value
 * still exists.
 */
export const labelsWithEmpty = (pairs: Iterable<readonly [string, string]>): Labels =>
  flatOf(new Map(pairs));

function flatOf(values: ReadonlyMap<string, string>): Labels {
  const flat: string[] = [];
  for (const name of [...values.keys()].sort(byName)) {
    flat.push(name, values.get(name)!);
  }
  return Object.freeze(flat);
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Different for different label sets, whatever a sender put into names and values. */
export function labelsKey(labels: Labels): string {
  for (let i = 0; i < labels.length; i++) {
    if (labels[i]!.includes('\0')) {
      // No plain key begins like this: the first name of a set is not empty.
      return `\0${JSON.stringify(labels)}`;
    }
  }
  return labels.join('\0');
}

/**
 * Returns the value of a label, or '' if it is absent, which is equivalent in every query language
 * here.
 */
export function labelValue(labels: Labels, name: string): string {
  for (let i = 0; i < labels.length; i += 2) {
    if (labels[i] === name) {
      return labels[i + 1]!;
    }
  }
  return '';
}

/**
 * Returns labels as a record for answers; without a prototype, so that a label named `__proto__` is
 * a label.
 */
export function labelsRecord(labels: Labels): Record<string, string> {
  const record = Object.create(null) as Record<string, string>;
  for (let i = 0; i < labels.length; i += 2) {
    record[labels[i]!] = labels[i + 1]!;
  }
  return record;
}

/** Returns labels with one set, or removed if the value is empty. */
export function withLabel(labels: Labels, name: string, value: string): Labels {
  const flat: string[] = [];
  let placed = value === '';
  for (let i = 0; i < labels.length; i += 2) {
    const other = labels[i]!;
    if (!placed && other >= name) {
      flat.push(name, value);
      placed = true;
    }
    if (other !== name) {
      flat.push(other, labels[i + 1]!);
    }
  }
  if (!placed) {
    flat.push(name, value);
  }
  return Object.freeze(flat);
}

export const withoutLabels = (labels: Labels, names: ReadonlySet<string>): Labels =>
  filtered(labels, names, false);

export const keepLabels = (labels: Labels, names: ReadonlySet<string>): Labels =>
  filtered(labels, names, true);

function filtered(labels: Labels, names: ReadonlySet<string>, keep: boolean): Labels {
  const flat: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    if (names.has(labels[i]!) === keep) {
      flat.push(labels[i]!, labels[i + 1]!);
    }
  }
  return flat.length === labels.length ? labels : Object.freeze(flat);
}

/** Order of label sets in an answer: pair by pair, a shorter one first. */
export function compareLabels(a: Labels, b: Labels): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    if (a[i] !== b[i]) {
      return a[i]! < b[i]! ? -1 : 1;
    }
  }
  return a.length - b.length;
}

export function sameLabels(a: Labels, b: Labels): boolean {
  if (a === b) {
    return true;
  }
  return a.length === b.length && compareLabels(a, b) === 0;
}
