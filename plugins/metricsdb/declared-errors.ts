import { connectionErrors } from 'svc/connection';
import { queryErrors } from 'svc/query';
import { storeErrors } from 'svc/store';

import { errors as drivers } from './drivers/errors.ts';
import { errors as drop } from './drop/errors.ts';
import { errors } from './errors.ts';
import { errors as forward } from './forward/errors.ts';
import { errors as service } from './service/errors.ts';
import { errors as blocks } from './store/blocks/errors.ts';
import { errors as columns } from './store/columns/errors.ts';
import { errors as store } from './store/errors.ts';
import { errors as intake } from './store/intake/errors.ts';

/** Errors of metrics, each folder with its own, and of the libraries that it answers with. */
export const declaredErrors = [
  errors,
  drivers,
  drop,
  forward,
  service,
  store,
  blocks,
  columns,
  intake,
  connectionErrors,
  ...queryErrors,
  ...storeErrors,
];
