export { type Attachment, createAttachment } from '@vinyasa/yoga-internals'
