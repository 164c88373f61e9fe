import { addressErrors } from '../auth/index.ts';
import { eventErrors } from '../events/index.ts';
import { hostErrors } from '../host/index.ts';
import { httpErrors } from '../http/index.ts';
import { isolateErrors } from '../isolate/index.ts';
import { observeErrors } from '../observe/index.ts';
import { outboundErrors } from '../outbound/index.ts';
import { registryErrors } from '../registry/index.ts';
import type { ErrorCatalogue } from '../sdk/index.ts';
import { storageErrors } from '../storage/index.ts';
import { errors } from './errors.ts';
import { errors as settingErrors } from './settings/errors.ts';

/** Errors of core itself, for the page of errors. */
export const coreErrors: readonly ErrorCatalogue[] = [
  errors,
  settingErrors,
  ...hostErrors,
  ...httpErrors,
  addressErrors,
  ...storageErrors,
  registryErrors,
  eventErrors,
  observeErrors,
  outboundErrors,
  isolateErrors,
];
