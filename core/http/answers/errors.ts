import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  reply_shape: ['internal', 'The reply from {route} does not match its schema: {item}{problem}'],
  streams_taken: ['rate_limited', 'You already have {count} open streams; close one first.'],
  upgrade_needed: ['invalid_argument', 'This route is a WebSocket; send an upgrade request.'],
  origin_foreign: [
    'forbidden',
    'Pages from another origin cannot open this WebSocket; if the address is correct, set SVC_PUBLIC_URL to it.',
  ],
  subprotocol: ['invalid_argument', 'Offer one of the subprotocols {protocols}.'],
  handshake: ['invalid_argument', 'The WebSocket handshake is not valid: {cause}'],
  stream_ended: ['unavailable', 'The stream ended: {why}.'],
});
