import { errors as blocks } from './blocks/errors.ts';
import { errors as bytes } from './bytes/errors.ts';
import { errors as catalogue } from './catalogue/errors.ts';
import { errors } from './errors.ts';
import { errors as wire } from './wire/errors.ts';

/** Errors of stores, each folder with its own; declared by the plugins that keep one. */
export const storeErrors = [errors, blocks, bytes, catalogue, wire];
