import type { Area } from '../area.ts';

/** It runs programs for other plugins, and serves no routes. */
export const area: Area = { routes: '' };
