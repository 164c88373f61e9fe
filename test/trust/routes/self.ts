import type { Area } from '../area.ts';

/** It only watches. */
export const area: Area = { routes: '' };
