import { type Labels, labelsKey } from 'svc/query';

import type { WorkingLine } from './pipeline/working-line.ts';

const mostRemembered = 10_000;

/** One object per distinct label set, and no sorting where no stage touched the labels. */
export function labelSets(): (work: WorkingLine) => Labels {
  let sets = new Map<string, Labels>();
  let base: Labels | undefined;
  let ofBase = new Map<Labels, Labels>();
  const intern = (work: WorkingLine): Labels => {
    const flat = work.flat();
    const key = labelsKey(flat);
    const known = sets.get(key);
    if (known !== undefined) {
      return known;
    }
    if (sets.size >= mostRemembered) {
      sets = new Map();
    }
    sets.set(key, Object.freeze(flat));
    return flat;
  };
  return (work) => {
    const same = work.untouched;
    if (same === undefined) {
      return intern(work);
    }
    if (same.beside === undefined || same.beside.length === 0) {
      return same.base;
    }
    if (same.base !== base || ofBase.size > mostRemembered) {
      base = same.base;
      ofBase = new Map();
    }
    const known = ofBase.get(same.beside) ?? intern(work);
    ofBase.set(same.beside, known);
    return known;
  };
}
