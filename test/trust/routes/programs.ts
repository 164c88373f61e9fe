import type { Area } from '../area.ts';

/** Area of a plugin that runs programs for other plugins, without routes. */
export const area: Area = { routes: '' };
