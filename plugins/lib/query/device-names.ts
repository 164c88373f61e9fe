import { messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import { type Labels, labelValue, withLabel } from './labels.ts';
import { matcher, type Matcher } from './matcher.ts';

/** Label by which a query may select and group data by the name of its device. Stores keep the id alone. */
export const nameLabel = 'device';
export const idLabel = 'device_id';
/** Each doubles the selectors that a query becomes. */
const mostPositive = 3;

/** Ids of devices, as the label `device_id` has them, with their names. */
export type NamesById = readonly (readonly [id: string, name: string])[];

/**
 * The current names of devices, in the thread of a store: a query that names the label `device` gets
 * it joined to data that has `device_id` and no `device` of its own, such as that of a disk.
 */
export class DeviceNameTable {
  #names: ReadonlyMap<string, string> = new Map();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** Replaces all names. */
  set(names: NamesById): void {
    this.#names = new Map(names);
  }

  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  /** Returns the values of the label `device`, sorted, of data that has these of its own and these ids. */
  valuesWith(own: readonly string[], ids: readonly string[]): string[] {
    const names = ids.flatMap((id) => this.#names.get(id) ?? []);
    return [...new Set([...own, ...names])].sort();
  }

  /** Returns the labels with the name of their device, unless they have another `device`. */
  joined(labels: Labels): Labels {
    const name = this.#names.get(labelValue(labels, idLabel));
    return name === undefined || labelValue(labels, nameLabel) !== ''
      ? labels
      : withLabel(labels, nameLabel, name);
  }

  /**
   * Returns selectors of stored labels that together select what the given one does with names
   * joined; no series is selected twice. A condition that asks for a device (`=`, `=~`) is met by the
   * label `device` of the data itself or by the name of its device, so that `{device="eth0",
   * device="shop-db"}` is one interface of one host; one that excludes (`!=`, `!~`) looks at the
   * label itself where there is one.
   */
  stored(matchers: readonly Matcher[]): readonly (readonly Matcher[])[] {
    const asked = matchers.filter(({ name }) => name === nameLabel);
    const positive = asked.filter(({ op }) => op === '=' || op === '=~');
    if (asked.length === 0 || this.isEmpty || positive.length > mostPositive) {
      return [matchers];
    }
    const excluding = asked.filter((one) => !positive.includes(one));
    const others = matchers.filter(({ name }) => name !== nameLabel);
    const found: (readonly Matcher[])[] = [];
    for (let byName = 0; byName < 1 << positive.length; byName++) {
      const isByName = (at: number): boolean => ((byName >> at) & 1) === 1;
      const named = positive.filter((_, at) => isByName(at));
      const ids = named.length === 0 ? undefined : this.#idsWhere(fitsAll(named));
      if (ids?.length !== 0) {
        const own = positive.map((one, at) => (isByName(at) ? opposite(one) : one));
        found.push(...this.#withExcluded([...others, ...own], excluding, ids));
      }
    }
    return found;
  }

  /**
   * Returns one selector that is nearly the same, for a server that takes no alternatives: a name of
   * devices becomes their ids.
   */
  foreign(matchers: readonly Matcher[]): readonly Matcher[] {
    return matchers.map((one) => {
      const ids =
        one.name === nameLabel && (one.op === '=' || one.op === '=~') && !one.matches('')
          ? this.#idsWhere(fitsAll([one]))
          : [];
      return ids.length === 0 ? one : amongIds('=~', ids);
    });
  }

  #idsWhere(fits: (name: string) => boolean): readonly string[] {
    return [...this.#names].filter(([, name]) => fits(name)).map(([id]) => id);
  }

  /** Adds conditions that exclude: data without a label `device` is judged by the name of its device. */
  #withExcluded(
    matchers: readonly Matcher[],
    excluding: readonly Matcher[],
    among: readonly string[] | undefined,
  ): readonly (readonly Matcher[])[] {
    const known = among === undefined ? [] : [amongIds('=~', among)];
    const fits = fitsAll(excluding);
    const mayLackName = fits('');
    // Where the absent label fits, devices are excluded by name; elsewhere they are chosen by it.
    const ids = this.#idsWhere((name) => fits(name) !== mayLackName);
    if (ids.length === 0) {
      return [[...matchers, ...excluding, ...known]];
    }
    return [
      [...matchers, ...excluding, ...known, matcher(nameLabel, '!=', '')],
      [
        ...matchers,
        ...known,
        matcher(nameLabel, '=', ''),
        amongIds(mayLackName ? '!~' : '=~', ids),
      ],
    ];
  }
}

const fitsAll =
  (matchers: readonly Matcher[]) =>
  (name: string): boolean =>
    matchers.every((one) => one.matches(name));

const opposite = ({ name, op, value }: Matcher): Matcher =>
  matcher(name, op === '=' ? '!=' : '!~', value);

const amongIds = (op: '=~' | '!~', ids: readonly string[]): Matcher =>
  matcher(idLabel, op, ids.map(literal).join('|'));

const literal = (id: string): string => id.replaceAll(/[^\w]/g, '\\$&');

/** Sends the names to the thread of a store: when they change, and when it has started again. */
export function keepNamed(
  { scope, log }: PluginContext,
  thread: ThreadHandle,
  names: () => NamesById,
  onNamed: (listener: () => void) => void,
): void {
  const send = (): Promise<void> =>
    thread
      .call<void>('deviceNames', names())
      .catch((error: unknown) =>
        log.warn(
          { event: 'store.names_not_sent', cause: messageOf(error) },
          'failed to send names of devices to the store; queries find the earlier names until one changes again',
        ),
      );
  onNamed(() => void send());
  scope.defer(
    'stop naming devices to the thread',
    thread.onNotice(({ kind }) => void (kind === 'open' && send())),
  );
}
