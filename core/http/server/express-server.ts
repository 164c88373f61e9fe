import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';

import type { Express } from 'express';

type Constructor = (this: object, ...input: unknown[]) => void;

/**
 * A server whose requests and responses are born with Express's prototypes. Express would give them
 * these prototypes on each request, which costs more on Node 20 than all the rest of the pipeline. The
 * constructors are called on `this` because going through Reflect.construct is slower still.
 */
export function createExpressServer(app: Express, options: ServerOptions): Server {
  function Request(this: object, socket: unknown): void {
    (IncomingMessage as unknown as Constructor).call(this, socket);
  }
  Request.prototype = app.request;
  function Response(this: object, request: unknown, settings: unknown): void {
    (ServerResponse as unknown as Constructor).call(this, request, settings);
  }
  Response.prototype = app.response;
  const born = { IncomingMessage: Request, ServerResponse: Response } as unknown as ServerOptions;
  // oxlint-disable-next-line typescript/no-misused-promises
  return createServer({ ...options, ...born }, app);
}
