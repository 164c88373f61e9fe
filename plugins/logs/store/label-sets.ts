import { type Labels, labelsOf } from 'svc/telemetry';

const mostKnown = 4_096;
const longestKey = 4_096;

/** Label sets that were met before: what every push says again is sorted once, and told by its identity from then on. */
export class LabelSets {
  readonly #read = new Map<string, Labels>();
  readonly #known = new Map<string, Labels>();

  /** Of an object of texts in JSON, known by its very bytes; undefined when that is not what they are. */
  in(body: Buffer, from: number, to: number): Labels | undefined {
    const key = body.toString('latin1', from, to);
    let labels = this.#read.get(key);
    if (labels === undefined) {
      const record = textsIn(body.toString('utf8', from, to));
      labels = record && this.of(record);
      if (labels !== undefined && key.length <= longestKey) {
        if (this.#read.size >= mostKnown) {
          this.#read.clear();
        }
        this.#read.set(key, labels);
      }
    }
    return labels;
  }

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

function textsIn(json: string): Readonly<Record<string, string>> | undefined {
  try {
    const record = JSON.parse(json) as Readonly<Record<string, unknown>>;
    return Object.values(record).every((value) => typeof value === 'string') ? (record as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
}
