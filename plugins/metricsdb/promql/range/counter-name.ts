const ending = /_(?:total|sum|count|bucket)$/;

/** Returns whether a name is that of a counter, by convention. */
export const isCounterName = (name: string): boolean => ending.test(name);
