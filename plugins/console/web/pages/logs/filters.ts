/** Returns a LogQL query that keeps the lines with a value of a label only. */
export const withLabel = (query: string, label: string, value: string): string =>
  `${query} | ${label}=${JSON.stringify(value)}`;

/** Returns a LogQL query that keeps the lines of JSON with a value of a field only. */
export const withField = (query: string, field: string, value: string): string =>
  withLabel(/\|\s*json\b/.test(query) ? query : `${query} | json`, field, value);

/** Returns a LogQL query that keeps the lines of a pattern only. */
export const withPattern = (query: string, pattern: string): string =>
  `${query} |> ${JSON.stringify(pattern)}`;

/** Returns whether a query selects lines, and counts none. */
export const isOfLines = (query: string): boolean => query.trimStart().startsWith('{');
