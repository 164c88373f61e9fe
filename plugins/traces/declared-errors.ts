import { connectionErrors } from 'svc/connection';
import { queryErrors } from 'svc/query';
import { storeErrors } from 'svc/store';

import { errors as drivers } from './drivers/errors.ts';
import { errors } from './errors.ts';
import { errors as service } from './service/errors.ts';
import { errors as columns } from './store/columns/errors.ts';
import { errors as store } from './store/errors.ts';
import { errors as intake } from './store/intake/errors.ts';

/** Errors of traces, each folder with its own, and of the libraries that it answers with. */
export const declaredErrors = [
  errors,
  drivers,
  service,
  store,
  columns,
  intake,
  connectionErrors,
  ...queryErrors,
  ...storeErrors,
];
