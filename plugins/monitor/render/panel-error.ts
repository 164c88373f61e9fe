import { isSvcError, type Logger, messageOf } from 'svc/sdk';
import { kindOf } from 'svc/query';

import { InsertionError } from '../variables/insertion.ts';

/** Why a panel or a variable has no data, as its reader sees it. */
export interface PanelError {
  readonly kind: 'query' | 'variable' | 'store' | 'timeout' | 'too_large' | 'internal';
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

const place = /(?:^|[ (])(\d{1,6}):(\d{1,6}):|\bat line (\d{1,6}), col (\d{1,6})\b/;

export function panelErrorOf(error: unknown, log: Logger): PanelError {
  const message = messageOf(error);
  if (error instanceof InsertionError) {
    return { kind: 'variable', message };
  }
  if (!isSvcError(error) || error.code === 'internal') {
    log.error({ event: 'monitor.panel_failed', cause: message }, 'failed to render a panel');
    return { kind: 'internal', message: 'the server failed; its log has the error' };
  }
  const kind = kindOf(error);
  if (kind === 'timeout' || kind === 'canceled') {
    return { kind: 'timeout', message };
  }
  if (kind === 'too_large' || error.code === 'budget_exceeded') {
    return { kind: 'too_large', message };
  }
  if (error.code !== 'invalid_argument') {
    return { kind: 'store', message };
  }
  const found = place.exec(message);
  const line = found?.[1] ?? found?.[3];
  const column = found?.[2] ?? found?.[4];
  return {
    kind: 'query',
    message,
    ...(line !== undefined && { line: Number(line), column: Number(column) }),
  };
}
