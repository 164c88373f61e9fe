export { errors as imErrors } from './errors.ts';
export {
  type CallAnswer,
  type CallPorts,
  type CallRefusal,
  type CallRequest,
  Calls,
  type FetchedToken,
  notSent,
} from './calls.ts';
export { multipart, type MultipartFile } from './multipart.ts';
export { inParts } from './parts.ts';
export { type Fitting, fitted, markdown, unmarked } from './plain.ts';
export { isFresh, opened, ProofsSeen, sameSecret, sha1Hex, sha256Hex, signed } from './proof.ts';
export {
  cutToBytes,
  formFields,
  jsonObject,
  objectOf,
  textOf,
  withoutImages,
  withoutMentions,
} from './text.ts';
export { dialSocket, type DialledSocket, type DialPorts } from './web-socket.ts';
