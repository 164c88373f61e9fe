import type { Area } from '../area.ts';

/** Area of a plugin that only watches. */
export const area: Area = { routes: '' };
