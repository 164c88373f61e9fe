import assert from 'node:assert/strict';
import { test } from 'node:test';

import { authHeaders } from '../../../plugins/model/providers/auth.ts';
import { signature } from '../../../plugins/model/providers/signature.ts';

const signer = {
  accessKey: 'AKIDEXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  token: '',
  region: 'us-east-1',
  service: 'service',
};
const at = Date.parse('2015-08-30T12:36:00Z');
const signed = (method: 'GET' | 'POST', path: string): string =>
  signature({ method, url: `https://example.amazonaws.com${path}`, body: '', at }, signer)[
    'authorization'
  ]!;

// The public test suite of AWS for Signature Version 4: get-vanilla, post-vanilla,
// get-vanilla-query-order-key-case.
test('requests are signed as the test suite of AWS has them', () => {
  const vectors = [
    ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ] as const;
  for (const [method, path, expected] of vectors) {
    assert.equal(
      signed(method, path),
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${expected}`,
    );
  }
});

test('the region of a signature is that of the address, and a key of Bedrock alone is a token', () => {
  const url = 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m%3A0/converse-stream';
  const request = { method: 'POST', url, body: '{}', at } as const;
  const headers = authHeaders('aws', 'AKID:secret:session', request);
  assert.match(
    headers['authorization']!,
    /\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, /,
  );
  assert.equal(headers['x-amz-security-token'], 'session');
  assert.deepEqual(authHeaders('aws', 'bedrock-api-key-1', request), {
    authorization: 'Bearer bedrock-api-key-1',
  });
  assert.deepEqual(authHeaders('bearer', '', request), {});
});
