"""Q4: what an update costs against a rebuild, and whether it gives the same view."""
