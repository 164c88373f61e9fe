import { errors as moment } from './moment/errors.ts';
import { errors as scrape } from './scrape/errors.ts';

/** Errors of measuring hosts, each folder with its own. */
export const errors = [moment, scrape];
