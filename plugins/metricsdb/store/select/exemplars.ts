import {
  type Budget,
  formatFloat,
  type Labels,
  labelsKey,
  labelValue,
  type Matcher,
  parseFloatGo,
} from 'svc/query';
import type { Catalogue } from 'svc/store';

import type { Exemplar } from '../intake/intake.ts';
import type { Window } from './label-queries.ts';

export interface SeriesExemplars {
  readonly series: Labels;
  /** Exemplars by time. */
  readonly exemplars: Exemplar[];
}

interface Row {
  readonly series: string;
  readonly labels: string;
  readonly value: string;
  readonly time: number;
}

/** Max exemplars in total, and below, of one series; the oldest are dropped first. */
const maxKept = 50_000;
const maxOfSeries = 200;
/** Max characters of names and values together, as the exposition format allows. */
const longestLabels = 128;

/** Exemplars of the newest samples, in memory and from `save` on in the catalogue. */
export class Exemplars {
  readonly #db: Catalogue['db'];
  readonly #bySeries = new Map<string, SeriesExemplars>();
  #unsaved: Row[] = [];
  #kept = 0;

  constructor(db: Catalogue['db']) {
    this.#db = db;
    for (const { series, labels, value, time } of db
      .prepare('select series, labels, value, time from exemplars order by id')
      .all() as Row[]) {
      this.#keep(Object.freeze(JSON.parse(series) as string[]), {
        labels: JSON.parse(labels) as string[],
        value: parseFloatGo(value) ?? NaN,
        time,
      });
    }
  }

  /**
   * Adds an exemplar and returns whether it was accepted: duplicates, those older than the last one
   * of the series and those that are too long are not.
   */
  add(series: Labels, exemplar: Exemplar): boolean {
    const { labels, time, value } = exemplar;
    if (
      labels.reduce((sum, { length }) => sum + length, 0) > longestLabels ||
      !this.#keep(series, exemplar)
    ) {
      return false;
    }
    this.#unsaved.push({
      series: JSON.stringify(series),
      labels: JSON.stringify(labels),
      value: formatFloat(value),
      time,
    });
    return true;
  }

  /** Returns exemplars within the window of series that any list of matchers selects. */
  async select(
    selectors: readonly (readonly Matcher[])[],
    { mint, maxt }: Window,
    budget: Budget,
  ): Promise<SeriesExemplars[]> {
    const found: SeriesExemplars[] = [];
    for (const { series, exemplars } of this.#bySeries.values()) {
      budget.spend(1);
      await budget.breathe();
      if (
        selectors.some((matchers) =>
          matchers.every(({ name, matches }) => matches(labelValue(series, name))),
        )
      ) {
        const within = exemplars.filter(({ time }) => time >= mint && time <= maxt);
        if (within.length > 0) {
          found.push({ series, exemplars: within });
        }
      }
    }
    return found;
  }

  /** Drops exemplars within the window of series that any list of matchers selects. */
  drop(selectors: readonly (readonly Matcher[])[], { mint, maxt }: Window): void {
    const selects = (series: Labels): boolean =>
      selectors.some((matchers) =>
        matchers.every(({ name, matches }) => matches(labelValue(series, name))),
      );
    this.save();
    const erase = this.#db.prepare(
      'delete from exemplars where series = ? and time between ? and ?',
    );
    for (const [key, { series, exemplars }] of [...this.#bySeries]) {
      if (selects(series)) {
        const kept = exemplars.filter(({ time }) => time < mint || time > maxt);
        this.#kept -= exemplars.length - kept.length;
        this.#bySeries.delete(key);
        if (kept.length > 0) {
          this.#bySeries.set(key, { series, exemplars: kept });
        }
        erase.run(JSON.stringify(series), mint, maxt);
      }
    }
  }

  save(): void {
    if (this.#unsaved.length === 0) {
      return;
    }
    const rows = this.#unsaved;
    this.#unsaved = [];
    const put = this.#db.prepare(
      'insert into exemplars (series, labels, value, time) values (@series, @labels, @value, @time)',
    );
    this.#db.transaction(() => {
      rows.forEach((row) => put.run(row));
      this.#db
        .prepare('delete from exemplars where id <= (select max(id) from exemplars) - ?')
        .run(maxKept);
    })();
  }

  #keep(series: Labels, exemplar: Exemplar): boolean {
    const key = labelsKey(series);
    const known = this.#bySeries.get(key) ?? { series, exemplars: [] };
    const last = known.exemplars.at(-1);
    if (last !== undefined && (exemplar.time < last.time || same(last, exemplar))) {
      return false;
    }
    known.exemplars.push(exemplar);
    this.#kept += 1;
    // Moved to the end: series that were idle longest are dropped first.
    this.#bySeries.delete(key);
    this.#bySeries.set(key, known);
    if (known.exemplars.length > maxOfSeries) {
      known.exemplars.shift();
      this.#kept -= 1;
    } else if (this.#kept > maxKept) {
      const [quiet, { exemplars }] = this.#bySeries.entries().next().value!;
      this.#bySeries.delete(quiet);
      this.#kept -= exemplars.length;
    }
    return true;
  }
}

const same = (a: Exemplar, b: Exemplar): boolean =>
  a.time === b.time && Object.is(a.value, b.value) && a.labels.join('\0') === b.labels.join('\0');
