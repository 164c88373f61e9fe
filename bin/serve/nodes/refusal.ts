import type { IncomingMessage, ServerResponse } from 'node:http';

const headers = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answers a request in place of a house. */
export function answerJson(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body }: { readonly status: number; readonly body: object },
): void {
  res
    .writeHead(status, {
      ...headers,
      ...(status === 503 && { connection: 'close', 'retry-after': '2' }),
    })
    .end(JSON.stringify(body));
  req.resume();
}

export const refuse = (req: IncomingMessage, res: ServerResponse, message: string): void =>
  answerJson(req, res, { status: 503, body: { error: 'unavailable', message } });

/** Path of a request, without its query. */
export const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?')[0]!;
