/** Ending of a block that is being written. */
export const draftSuffix = '.tmp';

/** Ending of the description beside a block that has none in it. */
export const aboutSuffix = '.about';

export const isBlock = (name: string): boolean =>
  !name.endsWith(draftSuffix) && !name.endsWith(aboutSuffix);
