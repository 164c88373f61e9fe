import { type Labels, labelsOf } from 'svc/telemetry';

const mostKnown = 4_096;
const longestKey = 4_096;

/** Label sets that were met before: what every push says again is sorted once, and told by its identity from then on. */
export class LabelSets {
  readonly #known = new Map<string, Labels>();

  of(record: Readonly<Record<string, string>>): Labels {
    let key = '';
    for (const name of Object.keys(record)) {
      const value = record[name]!;
      // With the lengths, no two sets can look the same.
      key += `${name.length}:${name}${value.length}:${value}`;
    }
    let labels = this.#known.get(key);
    if (labels === undefined) {
      labels = labelsOf(Object.entries(record));
      if (key.length <= longestKey) {
        if (this.#known.size >= mostKnown) {
          this.#known.clear();
        }
        this.#known.set(key, labels);
      }
    }
    return labels;
  }
}
