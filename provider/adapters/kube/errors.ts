import { ApiError } from "../../errors";
import { firstLine } from "../../text";
import type { HttpRequest, HttpResponse } from "./transport";

const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;
const ADVICE_FORBIDDEN =
    "The admin certificate is not accepted: does the CA in pki/ belong to the cluster that is running?";

/** What the server said, as an error: 408, 429 and all of 5xx pass by themselves (etcd without a leader answers 500). */
export function apiError(host: string, { method, path }: HttpRequest, { status, text }: HttpResponse): ApiError {
    return new ApiError({
        stage: "asking the Kubernetes API",
        host,
        what: `${method} ${path.split("?")[0]}: ${status} ${reasonIn(text)}`.trimEnd(),
        code: status,
        retryable: status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS || status >= SERVER_ERROR,
        advice: status === 401 || status === 403 ? ADVICE_FORBIDDEN : undefined,
    });
}

/** The message of a `Status` object, or the first line of anything else. */
function reasonIn(text: string): string {
    try {
        const { message } = JSON.parse(text) as { message?: unknown };
        if (typeof message === "string") return message;
    } catch {
        // not JSON: proxies and health checks answer in plain text
    }
    return firstLine(text).slice(0, 200);
}
