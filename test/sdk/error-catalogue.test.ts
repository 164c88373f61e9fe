import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defineErrors, isSvcError } from '../../core/sdk/index.ts';

const errors = defineErrors('shed', {
  no_tool: ['not_found', 'Tool {name} of shelf {shelf} does not exist.'],
  closed: ['unavailable', 'The shed is closed; try again in the morning.'],
  too_large: ['invalid_argument', 'The tool is longer than {max} m.', 413],
});

test('an error has its code, reason, status and the sentence with its values', () => {
  const error = errors.no_tool({ name: '{shelf} $&', shelf: 3 });
  assert.ok(isSvcError(error));
  assert.deepEqual(
    [error.code, error.reason, error.status, error.message],
    ['not_found', 'shed.no_tool', 404, 'Tool {shelf} $& of shelf 3 does not exist.'],
  );
  assert.equal(errors.too_large({ max: 2 }).status, 413);
});

test('a value that is a sentence loses its full stop where the sentence goes on', () => {
  const { stuck } = defineErrors('shed', {
    stuck: ['conflict', 'The door is stuck: {why}; try {why} ({why})'],
  });
  assert.equal(
    stuck({ why: 'The lock is rusty.' }).message,
    'The door is stuck: The lock is rusty; try The lock is rusty (The lock is rusty.)',
  );
  assert.equal(stuck({ why: 'v1.' }).message, 'The door is stuck: v1.; try v1. (v1.)');
});

test('extras are given behind the values, or alone where a sentence has none', () => {
  const cause = new Error('locked');
  const closed = errors.closed({ retryAfterSeconds: 5, cause });
  assert.deepEqual([closed.retryAfterSeconds, closed.cause], [5, cause]);
  const details = [{ path: '/name', message: 'is unknown' }];
  assert.equal(errors.no_tool({ name: 'saw', shelf: 1 }, { details }).details, details);
  assert.equal(errors.closed().message, 'The shed is closed; try again in the morning.');
});

test('an error is compared by its reason, and a catalogue is read as data', () => {
  assert.equal(errors.closed().reason, errors.closed.reason);
  assert.deepEqual(
    Object.values(errors).map(({ reason, status }) => `${reason} ${status}`),
    ['shed.no_tool 404', 'shed.closed 503', 'shed.too_large 413'],
  );
});

test('values are what the braces name, and braces are in pairs', () => {
  // @ts-expect-error -- a value is missing
  errors.no_tool({ name: 'saw' });
  // @ts-expect-error -- no brace names this value
  errors.too_large({ max: 2, min: 1 });
  // @ts-expect-error -- the sentence has no values
  errors.closed({ shelf: 1 });
  // @ts-expect-error -- the brace is not closed
  defineErrors('shed', { open: ['conflict', 'The shed has {doors open.'] });
  // @ts-expect-error -- the table of codes has no such code
  defineErrors('shed', { odd: ['strange', 'The shed is odd.'] });
});
