import type { Area } from '../area.ts';

/** Area of a plugin for edges, which serves no routes there. */
export const area: Area = { routes: '' };
