/** The API's models by the names that the page uses. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type Project = Schemas['Project'];
export type Attribute = Schemas['Attribute'];
export type FieldType = Schemas['FieldType'];
export type Filter = Schemas['Filter'];
export type TodayOperand = Schemas['TodayOperand'];
export type NowOperand = Schemas['NowOperand'];
export type MeOperand = Schemas['MeOperand'];
/** A key of an order as the API takes it: a field, or the manual order of a view. */
export type OrderKey = Schemas['SortKey'];
export type SortKey = Required<Extract<OrderKey, { field: string }>>;
export type GridRow = Schemas['GridRow'];
export type GridRequest = Schemas['GridRequest'];
export type Build = Schemas['Build'];
export type CompositeIndex = Schemas['CompositeIndex'];
export type IndexLag = Schemas['IndexLag'];
export type Explanation = Schemas['Explanation'];
export type PlanNode = Schemas['PlanNode'];
export type Issue = Schemas['Issue'];
export type SavedView = Schemas['SavedView'];
export type ViewCreate = Schemas['ViewCreate'];
export type ViewPatch = Schemas['ViewPatch'];
export type IssueComment = Schemas['IssueComment'];
export type ChangeEvent = Schemas['ChangeEvent'];
export type IssuedTicket = Schemas['IssuedTicket'];
export type CommentEvent = Schemas['CommentEvent'];
export type DeletedAttribute = Schemas['DeletedAttribute'];
export type DeletedProject = Schemas['DeletedProject'];
export type TrashedIssue = Schemas['TrashedIssue'];
export type ResetEvent = Schemas['ResetEvent'];
export type UndoAnswer = Schemas['UndoAnswer'];
export type Replacement = Schemas['ReplaceInput'];
export type FieldCopy = Schemas['CopyInput'];
export type PreviewedValue = Schemas['PreviewedValue'];
export type BackgroundJob = Schemas['BackgroundJob'];
export type RefusedIssue = Schemas['RefusedIssue'];
export type Webhook = Schemas['WebhookAnswer'];
export type WebhookCreate = Schemas['WebhookCreate'];
export type WebhookPatch = Schemas['WebhookPatch'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
