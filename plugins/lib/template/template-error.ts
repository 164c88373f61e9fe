import { type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/** Error of a template with its position, at compile time or while rendering. */
export function templateError(text: string, at: number, message: string): SvcError {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return errors.syntax({ line, at: at - before.lastIndexOf('\n'), message });
}
