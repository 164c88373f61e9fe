import { connectionErrors } from 'svc/connection';
import { queryErrors } from 'svc/query';
import { storeErrors } from 'svc/store';
import { templateErrors } from 'svc/template';

import { errors as drivers } from './drivers/errors.ts';
import { errors } from './errors.ts';
import { errors as loki } from './loki/errors.ts';
import { errors as store } from './store/errors.ts';
import { errors as intake } from './store/intake/errors.ts';
import { errors as lines } from './store/lines/errors.ts';
import { errors as tail } from './tail/errors.ts';

/** Errors of logs, each folder with its own, and of the libraries that it answers with. */
export const declaredErrors = [
  errors,
  drivers,
  loki,
  store,
  intake,
  lines,
  tail,
  connectionErrors,
  ...queryErrors,
  ...storeErrors,
  templateErrors,
];
