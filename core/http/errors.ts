import { defineErrors, type ErrorCatalogue } from '../sdk/index.ts';
import { authErrors } from './access/errors.ts';
import { errors as answerErrors } from './answers/errors.ts';
import { errors as exchangeErrors } from './exchange/errors.ts';
import { auditErrors, errors as handlerErrors } from './handler/errors.ts';
import { errors as pipelineErrors } from './pipeline/errors.ts';
import { errors as replyErrors } from './replies/errors.ts';
import { errors as routeErrors } from './routes/errors.ts';
import { errors as serverErrors } from './server/errors.ts';

export const errors = defineErrors('http', {
  not_ready: ['unavailable', 'The service is not ready: {parts}.'],
});

/** Errors of the whole front door. */
export const httpErrors: readonly ErrorCatalogue[] = [
  errors,
  serverErrors,
  pipelineErrors,
  answerErrors,
  handlerErrors,
  auditErrors,
  replyErrors,
  authErrors,
  exchangeErrors,
  routeErrors,
];
