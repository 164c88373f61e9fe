const ending = /_(?:total|sum|count|bucket)$/;

/** By custom, what only rises is named so. */
export const isCounterName = (name: string): boolean => ending.test(name);
