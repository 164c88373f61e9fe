import { errors as keep } from './keep/errors.ts';
import { errors as prompt } from './prompt/errors.ts';
import { errors as run } from './run/errors.ts';
import { errors as session } from './session/errors.ts';

/** Errors of chat, each folder with its own. */
export const errors = [keep, prompt, run, session];
