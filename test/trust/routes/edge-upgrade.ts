import type { Area } from '../area.ts';

/** It runs on edges, and serves no routes at all. */
export const area: Area = { routes: '' };
