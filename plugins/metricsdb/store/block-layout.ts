/** Blocks are cut into slices of time, all as wide, so that a question reads only the pages of its window. */
export const sliceMs = 2 * 3_600_000;

/** Series of one page: of one metric mostly, since blocks are sorted by name and labels. */
export const pageSeries = 64;

/** Series whose labels lie in one section; a multiple of `pageSeries`. */
export const groupSeries = 1_024;

/** Distinct time columns that lie in one section. */
export const timeColumnsPerSection = 64;

export const layoutVersion = 1;

/** Of blocks whose samples stand for several each, and tell for how many. */
export const thinLayoutVersion = 2;

/** What `level` of a block means: every sample as it came, or those that a window of five minutes can be told from. */
export const rawLevel = 0;
export const thinLevel = 1;

export const sliceOf = (time: number): number => Math.floor(time / sliceMs);
