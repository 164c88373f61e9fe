/** Pages that show a range of time; it stands in their address as `at`, and is the same for all. */
const pages: ReadonlySet<string> = new Set(['dashboards', 'devices', 'explore', 'logs', 'traces']);

const names = ['at', 'refresh'] as const;

/** Range and refresh that the reader has chosen last, on whichever page. */
let chosen: Readonly<Partial<Record<(typeof names)[number], string>>> = {};

/** Remembers the range of the page that is left or changed, if it has one. */
export function keepRange(page: string | undefined, query: URLSearchParams): void {
  if (page !== undefined && pages.has(page)) {
    chosen = Object.fromEntries(
      names.flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : [])),
    );
  }
}

/** Adds the chosen range to the query of the next page, unless its address brings one of its own. */
export function takeRange(page: string | undefined, query: URLSearchParams): void {
  if (page !== undefined && pages.has(page)) {
    for (const name of names) {
      const value = chosen[name];
      if (value !== undefined && !query.has(name)) {
        query.set(name, value);
      }
    }
  }
}
