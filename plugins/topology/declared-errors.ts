import { errors } from './errors.ts';
import { errors as props } from './props/errors.ts';

/** Errors of topology, each folder with its own. */
export const declaredErrors = [errors, props];
