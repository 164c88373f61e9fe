/** Blocks are cut into slices of time, all as wide, so that a question reads only the pages of its window. */
export const sliceMs = 2 * 3_600_000;

/** Series of one page: of one metric mostly, since blocks are sorted by name and labels. */
export const pageSeries = 64;

/** Series whose labels lie in one section; a multiple of `pageSeries`. */
export const groupSeries = 1_024;

/** Distinct time columns that lie in one section. */
export const timeColumnsPerSection = 64;

export const layoutVersion = 1;

/** Version of blocks with thinned samples, which say how many each represents. */
export const thinLayoutVersion = 2;

/** `level` of a block with every sample as it came. */
export const rawLevel = 0;

/**
 * Window in milliseconds by `level` of a thinned block, whose samples suffice to answer queries
 * about such windows.
 */
export const windowsOfLevel: ReadonlyMap<number, number> = new Map([
  [1, 5 * 60_000],
  [2, 60 * 60_000],
]);

export const sliceOf = (time: number): number => Math.floor(time / sliceMs);
