export { planAdd } from "./plan-add";
export { planRemove } from "./plan-remove";
export type * from "./plan-types";
