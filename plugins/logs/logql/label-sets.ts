import { type Labels, labelsKey } from 'svc/query';

import type { WorkingLine } from './lines/working-line.ts';

const maxRemembered = 10_000;

/** One object per distinct label set of the lines that come out of a pipeline, and no sorting where no stage touched the labels. */
export class LabelSets {
  #byKey = new Map<string, Labels>();
  /** Labels of the latest stream, to which `#ofBase` belongs. */
  #base: Labels | undefined;
  #ofBase = new Map<Labels, Labels>();

  of(work: WorkingLine): Labels {
    const same = work.untouched;
    if (same === undefined) {
      return this.#intern(work);
    }
    if (same.beside === undefined || same.beside.length === 0) {
      return same.base;
    }
    if (same.base !== this.#base || this.#ofBase.size > maxRemembered) {
      this.#base = same.base;
      this.#ofBase = new Map();
    }
    const known = this.#ofBase.get(same.beside) ?? this.#intern(work);
    this.#ofBase.set(same.beside, known);
    return known;
  }

  #intern(work: WorkingLine): Labels {
    const flat = work.flat();
    const key = labelsKey(flat);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      return known;
    }
    if (this.#byKey.size >= maxRemembered) {
      this.#byKey = new Map();
    }
    this.#byKey.set(key, Object.freeze(flat));
    return flat;
  }
}
