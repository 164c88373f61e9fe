import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-dingtalk', {
  invalid_app: ['invalid_argument', 'app_id {message}'],
  no_stream: ['upstream_error', 'Opening a stream to DingTalk failed: {reason}'],
});
