/** Bound of a store, and how much of it is used. */
export interface Bound {
  readonly used: number;
  /** Max; undefined if unlimited. */
  readonly most: number | undefined;
  /** Subject of the bound: `bytes of blocks`, `series`. */
  readonly what: string;
  /** The setting that says how many. */
  readonly setting: string;
  /** Effect of exceeding it. */
  readonly beyond: string;
}

export interface StoreState {
  readonly damage: readonly string[];
  /** Why writing is refused or fails, as a sentence. */
  readonly trouble?: string | undefined;
  readonly bounds: readonly Bound[];
}

export interface StoreDiagnosis {
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

const nearly = 0.9;
const maxNamed = 3;

/**
 * Diagnoses a store: whether it accepts and keeps data, whether all of it can be read, and how near
 * its bounds it is.
 */
export function examinedStore({ damage, trouble, bounds }: StoreState): StoreDiagnosis {
  const bounded = bounds.flatMap(({ most, ...bound }) =>
    most === undefined ? [] : [{ ...bound, most }],
  );
  const tight = bounded.filter(({ used, most }) => used >= most * nearly);
  if (trouble !== undefined) {
    return {
      verdict: 'fail',
      detail: `nothing is being stored: ${trouble}`,
      fix: 'fix the cause; senders retry by themselves',
    };
  }
  if (damage.length > 0) {
    const more = damage.length > maxNamed ? `; and ${damage.length - maxNamed} more` : '';
    return {
      verdict: 'fail',
      detail: `${damage.length === 1 ? 'a part' : `${damage.length} parts`} cannot be read: ${damage.slice(0, maxNamed).join('; ')}${more}`,
      fix: 'run "svc store mend", restore from a backup what stays damaged, and check the disk (dmesg, smartctl); meanwhile answers say what they lack',
    };
  }
  if (tight.length > 0) {
    return {
      verdict: 'warn',
      detail: tight
        .map(
          ({ used, most, what, setting, beyond }) =>
            `holds ${used} of the ${most} ${what} that ${setting} allows: beyond it ${beyond}`,
        )
        .join('; '),
      fix: `raise ${tight.map(({ setting }) => setting).join(' and ')} with "svc setting set", or store less`,
    };
  }
  return {
    verdict: 'ok',
    detail: bounded.map(({ used, most, what }) => `${used} of ${most} ${what}`).join(', '),
    fix: null,
  };
}

/**
 * Diagnoses an external store, or one that gives no answer: all that is known is whether it
 * answers.
 */
export const examinedAnswer = (
  { ok, detail }: { readonly ok: boolean; readonly detail?: string | undefined },
  setting: string,
): StoreDiagnosis =>
  ok
    ? { verdict: 'ok', detail: detail ?? 'answers', fix: null }
    : {
        verdict: 'fail',
        detail: `does not answer${detail === undefined ? '' : `: ${detail}`}`,
        fix: `look whether it runs and can be reached from here, and at ${setting}`,
      };
