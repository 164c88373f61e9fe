/** Names and values of a query, each name as often as it came. */
export type ParameterList = readonly (readonly [string, string])[];

/** A decoded query as pairs; a name that came several times gives several. */
export const parametersOf = (query: object): ParameterList =>
  Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((text: unknown) => [name, String(text)] as const),
  );
